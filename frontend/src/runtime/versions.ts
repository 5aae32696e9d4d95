/** How the running version differs from the topology that is drawn, node by node. */

import type { Sentence } from "../api/types";
import type { RunningVersion } from "../designer/runtime";
import { labelOf, type TopologyDocument } from "../graph/document";
import { differences } from "../versions/merge";

/** Null if the drawn topology has the same nodes as the running version. */
export function runningVersion(
  drawn: TopologyDocument,
  running: {
    readonly version: number;
    readonly document: TopologyDocument;
    readonly summary: Readonly<Record<string, Sentence>>;
  },
): RunningVersion | null {
  const found = differences(running.document, drawn, running.document);
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
