/** Commands that the page adds to the command palette: save, deploy, stop, panels, theme. */

import { useMantineColorScheme } from "@mantine/core";
import { useEffect } from "react";
import type { Deployment } from "../api/types";
import { type Command, type CommandContext, chosenNodes } from "../commands/command";
import { registerCommand } from "../commands/registry";
import { act } from "../deployments/acting";
import { deployNow } from "../deployments/deploy";
import { environmentOf, targetsAfter } from "../deployments/environments";
import { beginPromotion } from "../deployments/promoting";
import { drawing } from "../designer/drawn";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { notifyError } from "../frame/notify";
import { findNode, isStoreKind } from "../graph/document";
import { ENVIRONMENTS, type Environment, parametersOf } from "../graph/parameters";
import { useLive } from "../live/store";
import type { Move } from "../simulate/moves";
import { type Phrase, phrase, t } from "../ui/i18n";
import { openImport, openParameters, openSave, useEditing } from "../versions/editing";

const PANELS = [
  ["problems", phrase("Show problems")],
  ["simulate", phrase("Show simulation")],
  ["code", phrase("Show code")],
  ["plan", phrase("Show plan")],
  ["assignment", phrase("Show assignment")],
  ["charts", phrase("Show charts")],
  ["records", phrase("Show records")],
  ["state", phrase("Show state")],
  ["logs", phrase("Show logs")],
  ["runs", phrase("Show runs")],
  ["comments", phrase("Show comments")],
] as const;

/** The node up to which a simulation can run: the selected one, or the one chosen within a fragment. */
function runsTo(context: CommandContext): string | undefined {
  const { designer } = context;
  const [id, ...others] = chosenNodes(context);
  if (id === undefined || others.length > 0) return undefined;
  const node = findNode(designer.document, id) ?? findNode(drawing(designer), id);
  return node === undefined || isStoreKind(node.kind) ? undefined : id;
}

/** The shown deployment, if its version can be promoted to an environment. */
function promotable(environment: Environment): Deployment | null {
  const { deployment } = useLive.getState();
  if (deployment === null) return null;
  const own = environmentOf(deployment);
  const named = own !== null || parametersOf(useDesigner.getState().document).length > 0;
  return named && targetsAfter(own).includes(environment) ? deployment : null;
}

function running(): boolean {
  return useLive.getState().deployment?.desired === "running";
}

async function run(action: "start" | "stop" | "restart"): Promise<void> {
  try {
    await act(action);
  } catch (error) {
    notifyError(error);
  }
}

const MOVES: readonly (readonly [Move, Phrase, string])[] = [
  ["back", phrase("Simulation: previous step"), ","],
  ["next", phrase("Simulation: next step"), "."],
  ["dropNext", phrase("Simulation: next record that ended"), "Shift+N"],
];

export function usePageCommands(rights: {
  editor: boolean;
  operator: boolean;
  topology: number;
  ws: string;
}): void {
  const { editor, operator, topology, ws } = rights;
  const { toggleColorScheme } = useMantineColorScheme();
  useEffect(() => {
    const commands: Command[] = [
      {
        id: "save-version",
        group: "topology",
        title: () => t("Save a version"),
        shortcuts: ["Mod+S"],
        everywhere: true,
        enabled: () => editor,
        run: () => {
          if (useEditing.getState().changed) openSave();
        },
      },
      {
        id: "import",
        group: "topology",
        title: () => t("Import a document or a program…"),
        enabled: () => editor,
        run: openImport,
      },
      {
        id: "parameters",
        group: "topology",
        title: () => t("Parameters and environments…"),
        enabled: ({ designer }) => designer.topologyId !== null && !designer.isFragment,
        run: () => openParameters(true),
      },
      {
        id: "deploy",
        group: "topology",
        title: () => t("Deploy"),
        enabled: ({ designer }) => operator && !designer.isFragment,
        run: () => deployNow(null),
      },
      ...ENVIRONMENTS.map(
        (environment): Command => ({
          id: `promote-${environment}`,
          group: "topology",
          title: () => t("Promote to {environment}…", { environment }),
          enabled: () => operator && promotable(environment) !== null,
          run: async () => {
            const source = promotable(environment);
            if (source !== null) await beginPromotion(source, environment);
          },
        }),
      ),
      {
        id: "stop-deployment",
        group: "topology",
        title: () => t("Stop the deployment"),
        enabled: () => operator && running(),
        run: () => run("stop"),
      },
      {
        id: "restart-deployment",
        group: "topology",
        title: () => t("Restart the deployment"),
        enabled: () => operator && running(),
        run: () => run("restart"),
      },
      {
        id: "simulate",
        group: "topology",
        title: () => t("Simulate"),
        shortcuts: ["Alt+R"],
        everywhere: true,
        run: async () => {
          useView.getState().openBottom("simulate");
          const { openAndRun } = await import("../simulate/store");
          await openAndRun(topology, ws);
        },
      },
      {
        id: "run-to",
        group: "topology",
        title: () => t("Simulate up to the node"),
        enabled: (context) => runsTo(context) !== undefined,
        run: async (context) => {
          useView.getState().openBottom("simulate");
          const { openAndRun } = await import("../simulate/store");
          await openAndRun(topology, ws, runsTo(context));
        },
      },
      ...MOVES.map(
        ([move, title, keys]): Command => ({
          id: `simulation-${move}`,
          group: "go",
          title: () => t(title),
          shortcuts: [keys],
          enabled: () => useSimulated.getState().edges !== null,
          run: async () => (await import("../simulate/moves")).go(move),
        }),
      ),
      {
        id: "comment",
        group: "edit",
        title: () => t("Comment on the node"),
        shortcuts: ["Alt+C"],
        enabled: ({ designer }) => editor && designer.selection.nodes.length === 1,
        run: () => useView.getState().openBottom("comments"),
      },
      {
        id: "toggle-theme",
        group: "view",
        title: () => t("Switch between light and dark"),
        run: () => toggleColorScheme(),
      },
      ...PANELS.map(
        ([panel, title]): Command => ({
          id: `open-${panel}`,
          group: "view",
          title: () => t(title),
          run: () => useView.getState().openBottom(panel),
        }),
      ),
    ];
    const removals = commands.map(registerCommand);
    return () => {
      for (const remove of removals) remove();
    };
  }, [editor, operator, topology, ws, toggleColorScheme]);
}
