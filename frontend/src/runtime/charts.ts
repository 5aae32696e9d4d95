/** The figures that charts show, and the formats of their values. */

import type { Figures } from "../api/types";
import { bytes, count, moment, rate, span } from "../ui/format";
import { type Phrase, phrase } from "../ui/i18n";

export type FigureName = Figures["figure"];
export type RangeName = Figures["range"];
type Unit = Figures["unit"];

/** Figures by group, in the order in which they are listed. */
export const GROUPS: readonly (readonly [Phrase, readonly (readonly [FigureName, Phrase])[]])[] = [
  [
    phrase("Records"),
    [
      ["node_in", phrase("Records in")],
      ["node_out", phrase("Records out")],
      ["node_dropped", phrase("Dropped")],
      ["dropped_by_reason", phrase("Dropped, by reason")],
      ["node_warned", phrase("Rejected with a warning")],
      ["node_dead_letters", phrase("Dead letters")],
      ["task_records", phrase("Records by task")],
      ["task_skew", phrase("Share of the busiest task")],
    ],
  ],
  [
    phrase("Lag"),
    [
      ["lag", phrase("Lag in records")],
      ["lag_time", phrase("Lag in time")],
      ["task_lag", phrase("Lag by task")],
      ["task_stream_time_distance", phrase("Distance of stream time from now")],
    ],
  ],
  [
    phrase("Latency"),
    [
      ["latency_p50", phrase("From the record's time (p50)")],
      ["latency_p99", phrase("From the record's time (p99)")],
      ["arrival_p50", phrase("From its arrival (p50)")],
      ["arrival_p99", phrase("From its arrival (p99)")],
    ],
  ],
  [
    phrase("State"),
    [
      ["store_rows", phrase("Rows of stores")],
      ["store_bytes", phrase("Bytes of stores")],
      ["task_state_rows", phrase("State rows by task")],
    ],
  ],
  [
    phrase("Batches"),
    [
      ["batch_duration", phrase("Duration of batches")],
      ["batch_phases", phrase("Phases of batches")],
    ],
  ],
];

export const RANGES: readonly (readonly [RangeName, Phrase])[] = [
  ["15m", phrase("15 min")],
  ["1h", phrase("1 h")],
  ["6h", phrase("6 h")],
  ["24h", phrase("24 h")],
  ["7d", phrase("7 d")],
  ["14d", phrase("14 d")],
];

const WRITTEN: Readonly<Record<Unit, (value: number) => string>> = {
  per_second: rate,
  records: count,
  rows: count,
  bytes,
  ms: span,
  percent: (value) => `${count(value)} %`,
};

/** A value with its unit, in short form. */
export function written(unit: Unit, value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : WRITTEN[unit](value);
}

/** The color tokens of the lines, in order. */
export const LINES = [
  "--m-area-0",
  "--m-area-1",
  "--m-area-2",
  "--m-area-3",
  "--m-area-4",
  "--m-area-5",
  "--m-hue-stateless",
  "--m-hue-aggregation",
  "--m-hue-store",
  "--m-hue-source",
  "--m-hue-processor",
  "--m-hue-table",
] as const;

/** How a series is drawn: the token of its color, and the lengths of its dashes and gaps. */
export interface Ink {
  readonly token: string;
  readonly dash: readonly number[];
}

/** Dashes that tell lines of one color apart, in order. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

/** The inks of series: nodes have the color of their family on the canvas, everything else the next color. */
export function inksOf(
  names: readonly string[],
  hueOfSeries: (name: string) => string | null,
): readonly Ink[] {
  const used = new Map<string, number>();
  return names.map((name, index) => {
    const hue = hueOfSeries(name);
    const token = hue === null ? (LINES[index % LINES.length] ?? LINES[0]) : `--m-hue-${hue}`;
    const before = used.get(token) ?? 0;
    used.set(token, before + 1);
    return { token, dash: DASHES[before % DASHES.length] ?? [] };
  });
}

/** The start of each interval, in epoch seconds. */
export function times(found: Pick<Figures, "begin" | "points" | "step">): number[] {
  return Array.from({ length: found.points }, (_, index) => found.begin + index * found.step);
}

/** The last known value of a series, and the highest one. */
export function endsOf(values: readonly (number | null)[]): {
  last: number | null;
  highest: number | null;
} {
  const known = values.filter((value) => value !== null);
  return {
    last: values.at(-1) ?? values.at(-2) ?? null,
    highest: known.length === 0 ? null : Math.max(...known),
  };
}

/** The label of a tick on the time axis: time of day, with the date for ranges of several days. */
export function tick(seconds: number, range: RangeName): string {
  const at = moment(seconds * 1000);
  return range === "7d" || range === "14d" ? at.slice(5, 16) : at.slice(11, 16);
}
