/** Maps nodes to their lines of code and back. */

import type { SourceMapEntry } from "../api/types";

/** Spans of the selected nodes in one file. */
export function spansOf(
  map: readonly SourceMapEntry[],
  path: string,
  nodes: readonly string[],
): SourceMapEntry[] {
  const wanted = new Set(nodes);
  return map.filter((span) => span.path === path && wanted.has(span.node));
}

/** The node of a line: that of the narrowest span that contains the line. */
export function nodeAt(map: readonly SourceMapEntry[], path: string, line: number): string | null {
  let best: SourceMapEntry | null = null;
  for (const span of map) {
    if (span.path !== path || line < span.start || line > span.end) continue;
    if (best === null || span.end - span.start < best.end - best.start) best = span;
  }
  return best?.node ?? null;
}
