/** What the page adds to the command palette: save, deploy, stop, panels, theme. */

import { useMantineColorScheme } from "@mantine/core";
import { useEffect } from "react";
import { t } from "../app/phrases";
import { tellError } from "../app/tell";
import type { Command } from "../commands/command";
import { registerCommand } from "../commands/registry";
import { deployNow } from "../deployments/DeployButton";
import { showSteps } from "../deployments/steps";
import { useView } from "../designer/view";
import { useLive } from "../runtime/store";
import { act, useEditing } from "./editing";
import { openSave } from "./SaveDialog";

const PANELS = [
  ["problems", "Show problems"],
  ["code", "Show code"],
  ["plan", "Show plan"],
  ["assignment", "Show assignment"],
  ["logs", "Show logs"],
  ["runs", "Show runs"],
] as const;

function running(): boolean {
  return useLive.getState().deployment?.desired === "running";
}

async function run(action: "start" | "stop" | "restart"): Promise<void> {
  try {
    await act(action);
    showSteps();
  } catch (error) {
    tellError(error);
  }
}

export function usePageCommands(rights: { editor: boolean; operator: boolean }): void {
  const { editor, operator } = rights;
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
        id: "deploy",
        group: "topology",
        title: () => t("Deploy"),
        enabled: () => operator,
        run: () => deployNow(null),
      },
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
  }, [editor, operator, toggleColorScheme]);
}
