/** Diagnostics in a useful order for fixing them. */

import type { Diagnostic } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { definitionsOf, OUTPUT } from "../graph/fragments";

interface ProblemGroup {
  readonly node: string | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Groups by node in the order of the document, the topology's own group last; in a group, errors before warnings. */
export function byNode(
  diagnostics: readonly Diagnostic[],
  document: TopologyDocument,
): ProblemGroup[] {
  const groups = new Map<string | null, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const group = groups.get(diagnostic.node);
    if (group === undefined) groups.set(diagnostic.node, [diagnostic]);
    else group.push(diagnostic);
  }
  const place = new Map(document.nodes.map((node, index) => [node.id, index]));
  const rank = (node: string | null) =>
    node === null ? Number.MAX_SAFE_INTEGER : (place.get(node) ?? document.nodes.length);
  const weight = (each: Diagnostic) => (each.severity === "error" ? 0 : 1);
  return [...groups]
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([node, list]) => ({ node, diagnostics: list.toSorted((a, b) => weight(a) - weight(b)) }));
}

/** Whether the topology writes anything, itself or in a fragment; a fragment has outputs. It compiles without a sink. */
export function hasSink(document: TopologyDocument): boolean {
  const parts = Object.values(definitionsOf(document.fragments, document.nodes));
  const kinds = [document, ...parts].flatMap(({ nodes }) => nodes.map(({ kind }) => kind));
  const ends = document.nodes.some(({ kind }) => kind === OUTPUT);
  return ends || kinds.some((kind) => kind.startsWith("sink."));
}
