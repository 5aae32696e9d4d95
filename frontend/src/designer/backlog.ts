/** The trend of a source's lag. */

import type { HistoryPoint } from "./runtime";

/** The longest and shortest history from which a trend is computed. */
const LONGEST_MS = 60_000;
const SHORTEST_MS = 10_000;

export type Trend =
  | { readonly kind: "catching up"; readonly inMs: number }
  | { readonly kind: "falling behind"; readonly perSecond: number };

/**
 * Whether the lag grew or shrank over the last minute; null if it is steady or was not measured for long enough.
 *
 * Micro-batches make the lag a sawtooth: it grows while a batch runs and drops when the batch ends. Therefore, the
 * lowest lag of the first third is compared with that of the last third.
 */
export function trendOf(points: readonly HistoryPoint[]): Trend | null {
  const end = points.at(-1)?.at ?? 0;
  const recent = points.flatMap(({ at, lag }) =>
    lag === null || at < end - LONGEST_MS ? [] : [{ at, lag }],
  );
  const start = recent[0]?.at ?? end;
  if (end - start < SHORTEST_MS) return null;
  const third = (end - start) / 3;
  const before = Math.min(...recent.filter(({ at }) => at <= start + third).map(({ lag }) => lag));
  const after = Math.min(...recent.filter(({ at }) => at >= end - third).map(({ lag }) => lag));
  const change = after - before;
  if (!Number.isFinite(change) || after === 0) return null;
  if (Math.abs(change) < Math.max(100, 0.05 * before)) return null;
  const perMs = change / (2 * third);
  return change > 0
    ? { kind: "falling behind", perSecond: perMs * 1000 }
    : { kind: "catching up", inMs: after / -perMs };
}
