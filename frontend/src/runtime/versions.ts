/** How the running version differs from the topology that is drawn, node by node. */

import type { Sentence } from "../api/types";
import type { RunningVersion } from "../designer/runtime";
import { findNode, labelOf, type TopologyDocument } from "../graph/document";
import type { expanded } from "../graph/opening";
import { differences } from "../versions/merge";

/** A document with the nodes of those fragments that the other document does not have as fragments. */
function alike(
  document: TopologyDocument,
  other: TopologyDocument,
  expand: typeof expanded,
): TopologyDocument {
  return expand(document, ({ id, kind }) => findNode(other, id)?.kind !== kind);
}

/**
 * Null if the drawn topology has the same nodes as the running version. Nodes that were made a fragment, or were one,
 * run under the same ids, and are compared one by one.
 */
export function runningVersion(
  drawing: TopologyDocument,
  running: {
    readonly version: number;
    readonly document: TopologyDocument;
    readonly summary: Readonly<Record<string, Sentence>>;
  },
  expand: typeof expanded = (document) => document,
): RunningVersion | null {
  const before = alike(running.document, drawing, expand);
  const found = differences(before, alike(drawing, running.document, expand), before);
  const changed: Record<string, { label: string; summary: Sentence | null }> = {};
  const drawnOnly = new Set<string>();
  const runningOnly: string[] = [];
  for (const { base, mine } of found) {
    if (base === null && mine !== null) drawnOnly.add(mine.id);
    else if (base !== null && mine === null) runningOnly.push(labelOf(base));
    else if (base !== null) {
      changed[base.id] = { label: labelOf(base), summary: running.summary[base.id] ?? null };
    }
  }
  if (found.length === 0) return null;
  return { version: running.version, changed, drawnOnly, runningOnly };
}
