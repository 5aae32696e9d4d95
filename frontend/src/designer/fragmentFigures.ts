/** Figures of fragment nodes while a topology runs: the sums of those within at which records enter and leave. */

import type { CompileResult } from "../api/types";
import { findNode, isStoreKind, type TopologyDocument } from "../graph/document";
import type { NodeFigures } from "./runtime";

type Contents = CompileResult["fragments"];

/** The fragment node that contains a node; the node itself if none does. */
export function outerNode(fragments: Contents, id: string): string {
  for (const [node, { nodes }] of Object.entries(fragments ?? {})) {
    if (nodes.some((inner) => inner.id === id)) return node;
  }
  return id;
}

/** Whether a node of the document, or one within a fragment node, is a store. */
export function isStoreNode(document: TopologyDocument, fragments: Contents, id: string): boolean {
  const inner = Object.values(fragments ?? {}).flatMap(({ nodes }) => nodes);
  const found = findNode(document, id) ?? inner.find((each) => each.id === id);
  return isStoreKind(found?.kind ?? "");
}

const sum = (all: readonly NodeFigures[], part: "inRate" | "inTotal" | "outRate" | "outTotal") =>
  all.reduce((total, each) => total + each[part], 0);

function counts(all: readonly NodeFigures[], part: "dropped" | "misses"): Record<string, number> {
  const found: Record<string, number> = {};
  for (const each of all) {
    for (const [reason, n] of Object.entries(each[part])) found[reason] = (found[reason] ?? 0) + n;
  }
  return found;
}

/** The tasks of all inner nodes, each once, in the order of the nodes. */
function tasksOf(all: readonly NodeFigures[]): NodeFigures["tasks"] {
  const found = new Map<string, NodeFigures["tasks"][number]>();
  for (const task of all.flatMap((each) => each.tasks)) {
    if (!found.has(task.task)) found.set(task.task, task);
  }
  return [...found.values()];
}

/** The figures with those of fragment nodes, of which all inner nodes have figures. */
export function withFragmentFigures(
  nodes: Readonly<Record<string, NodeFigures>>,
  fragments: Contents,
): Readonly<Record<string, NodeFigures>> {
  const made: Record<string, NodeFigures> = { ...nodes };
  for (const [id, { nodes: inner, edges }] of Object.entries(fragments ?? {})) {
    const working = inner.filter(({ kind }) => !isStoreKind(kind));
    const figures = (some: typeof working) =>
      some.flatMap((each) => {
        const own = nodes[each.id];
        return own === undefined ? [] : [own];
      });
    const all = figures(working);
    const one = all[0];
    if (one === undefined || all.length < working.length) continue;
    const begin = figures(
      working.filter((each) => edges.every(({ target }) => target !== each.id)),
    );
    const end = figures(working.filter((each) => edges.every(({ source }) => source !== each.id)));
    made[id] = {
      ...one,
      inRate: sum(begin, "inRate"),
      inTotal: sum(begin, "inTotal"),
      outRate: sum(end, "outRate"),
      outTotal: sum(end, "outTotal"),
      dropped: counts(all, "dropped"),
      misses: counts(all, "misses"),
      tasks: tasksOf(all),
      deadLetters: all.reduce((total, each) => total + each.deadLetters, 0),
      failure: all.find((each) => each.failure !== null)?.failure ?? null,
    };
  }
  return made;
}
