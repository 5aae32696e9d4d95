/** A small editor for tests that drives the designer's store and commands like a person. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CompileResult, Diagnostic } from "../api/types";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import type { Catalog } from "../graph/catalog";
import { connect as connectTo } from "../graph/changes";
import { type Refusal, refusal } from "../graph/connect";
import { edgeId, emptyDocument, findNode, type TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";
import { type AddOptions, addKind } from "./addNode";
import { canRun, commandContext } from "./command";
import { commandById } from "./registry";

/** The real catalog that the compiler generates. */
export const CATALOG: Catalog = JSON.parse(
  readFileSync(
    join(import.meta.dirname, "../../../compiler/millrace_compiler/catalog/catalog.json"),
    "utf8",
  ),
);

let topology = 1000;

export interface Editor {
  readonly document: () => TopologyDocument;
  /** Drops a kind on the canvas at a place, or adds it beside the selected node. */
  drop(kind: string, options?: AddOptions): string;
  /** Pulls a wire; returns the reason if it was refused, else null. Ports are written `node.port`. */
  connect(from: string, to: string): Refusal | null;
  select(...nodes: string[]): void;
  /** Runs a command; false if it cannot run now. */
  run(command: string): Promise<boolean>;
  undo(): Promise<boolean>;
  edges(): string[];
  label(node: string): string | undefined;
  /** Sets a compile result, as if the compiler had responded. */
  answer(result: Partial<CompileResult>): void;
  expectDiagnostics(node: string): readonly Diagnostic[];
}

function address(text: string, usual: string) {
  const [node = "", port = usual] = text.split(".");
  return { node, port };
}

/** Opens a document, by default an empty one, as a topology of its own. */
export function editor(document: TopologyDocument = emptyDocument("test")): Editor {
  topology += 1;
  useDesigner.getState().open({ topologyId: topology, document, catalog: CATALOG });
  const state = () => useDesigner.getState();
  const run = async (id: string) => {
    const command = commandById(id);
    if (command === undefined) throw new Error(`No command ${id}`);
    const context = commandContext();
    if (!canRun(command, context)) return false;
    await command.run(context);
    return true;
  };
  return {
    document: () => state().document,
    drop: (kind, options) => {
      const id = addKind(kind, options);
      if (id === null) throw new Error(`${kind} was not added`);
      return id;
    },
    connect: (from, to) => {
      const source = address(from, "out");
      const target = address(to, "in");
      const why = refusal(state().document, CATALOG, knownRoles(state()), source, target);
      if (why === null) state().change(t("Connect"), (now) => connectTo(now, source, target));
      return why;
    },
    select: (...nodes) => state().select({ nodes }),
    run,
    undo: () => run("undo"),
    edges: () => state().document.edges.map(edgeId),
    label: (node) => findNode(state().document, node)?.label,
    answer: (result) =>
      state().setResult({
        revision: state().revision,
        diagnostics: [],
        ports: {},
        plan: null,
        summary: {},
        code: null,
        ...result,
      }),
    expectDiagnostics: (node) => state().nodeDiagnostics[node] ?? [],
  };
}
