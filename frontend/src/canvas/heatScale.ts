/** The colors of a heat map: which figures they show, and what pale and strong mean. */

import type { NodeFigures } from "../designer/runtime";
import { bytes, count, rate, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";

export type Figure =
  | "none"
  | "rate"
  | "lag"
  | "latency"
  | "arrival"
  | "skew"
  | "dropped"
  | "dead_letters"
  | "rows"
  | "bytes";

/**
 * The scale of a figure. With `from` and `to`, a value has no color up to `from` and the strongest from `to` on, with equal
 * ratios between them; without, colors are shares of the highest value. `trouble` is in the color of warnings.
 */
interface Scale {
  readonly label: Phrase;
  readonly meaning: Phrase;
  readonly value: (figures: NodeFigures) => number | null;
  readonly text: (value: number) => string;
  readonly limits?: { readonly from: number; readonly to: number };
  readonly linear?: boolean;
  readonly trouble?: boolean;
}

const percent = (share: number) => `${Number((share * 100).toPrecision(2))} %`;

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, each) => total + each, 0);

/** The share of all records that came to a node; null before the first one. */
function share(part: number, figures: NodeFigures): number | null {
  return figures.inTotal + part === 0 ? null : Math.min(1, part / Math.max(figures.inTotal, part));
}

const LATENCY = { limits: { from: 100, to: 10_000 }, text: span, trouble: true } as const;
const SHARE = { limits: { from: 0.0001, to: 0.1 }, text: percent, trouble: true } as const;

export const SCALES: Readonly<Record<Exclude<Figure, "none">, Scale>> = {
  rate: {
    label: phrase("Heat: rate"),
    meaning: phrase("Records per second, compared with the fastest node"),
    value: (figures) => Math.max(figures.inRate, figures.outRate),
    text: rate,
  },
  lag: {
    label: phrase("Heat: lag"),
    meaning: phrase("Time that the records not yet read need at the present rate"),
    // At less than a record per second, a few records are no backlog.
    value: ({ lag, outRate }) => (lag === null ? null : (lag / Math.max(outRate, 1)) * 1_000),
    limits: { from: 1_000, to: 60_000 },
    text: span,
    trouble: true,
  },
  latency: {
    label: phrase("Heat: latency"),
    meaning: phrase("99 % of the records take less, from their timestamp on"),
    value: (figures) => figures.latency?.event.p99 ?? null,
    ...LATENCY,
  },
  arrival: {
    label: phrase("Heat: latency from arrival"),
    meaning: phrase({
      id: "canvas.of_records_take_less",
      message: "99 % of the records take less, from their arrival in Kafka on",
    }),
    value: (figures) => figures.latency?.arrival.p99 ?? null,
    ...LATENCY,
  },
  skew: {
    label: phrase("Heat: skew of tasks"),
    meaning: phrase("Share of the busiest task: as the others, up to all records"),
    value: (figures) => skewOf(figures.tasks.map((task) => task.rate)),
    limits: { from: 0, to: 1 },
    linear: true,
    text: (value) => (value === 0 ? t("even") : t("one task")),
    trouble: true,
  },
  dropped: {
    label: phrase("Heat: dropped"),
    meaning: phrase("Share of the node's records that were dropped"),
    value: (figures) => share(sum(figures.dropped), figures),
    ...SHARE,
  },
  dead_letters: {
    label: phrase("Heat: dead letters"),
    meaning: phrase("Share of the node's records that became dead letters"),
    value: (figures) => share(figures.deadLetters, figures),
    ...SHARE,
  },
  rows: {
    label: phrase("Heat: state"),
    meaning: phrase("Rows, compared with the largest store"),
    value: (figures) => figures.storeRows,
    text: count,
  },
  bytes: {
    label: phrase("Heat: bytes of state"),
    meaning: phrase("Bytes, compared with the largest store"),
    value: (figures) => figures.storeBytes,
    text: bytes,
  },
};

/** Skew of the tasks' rates: 0 if equal, 1 if one task has everything; null with one task or without known rates. */
function skewOf(rates: readonly (number | null)[]): number | null {
  const known = rates.filter((rate) => rate !== null);
  const total = known.reduce((all, rate) => all + rate, 0);
  if (known.length < 2 || total === 0) return null;
  const even = 1 / known.length;
  return (Math.max(...known) / total - even) / (1 - even);
}

type Nodes = Readonly<Record<string, NodeFigures>>;

function valuesOf(nodes: Nodes, scale: Scale): [string, number][] {
  return Object.entries(nodes).flatMap(([id, figures]): [string, number][] => {
    const value = scale.value(figures);
    return value === null ? [] : [[id, value]];
  });
}

const highest = (values: readonly [string, number][]) =>
  Math.max(0, ...values.map(([, value]) => value));

/** Heat of every node that has the figure, from 0 to 1. */
export function heats(nodes: Nodes, figure: Figure): Map<string, number> {
  if (figure === "none") return new Map();
  const scale = SCALES[figure];
  const values = valuesOf(nodes, scale);
  const top = highest(values);
  const heat = (value: number) => {
    if (scale.limits === undefined) return top === 0 ? 0 : value / top;
    const { from, to } = scale.limits;
    if (scale.linear === true) return (value - from) / (to - from);
    return value <= from ? 0 : Math.min(1, Math.log(value / from) / Math.log(to / from));
  };
  return new Map(values.map(([id, value]) => [id, heat(value)]));
}

/** The texts at both ends of a figure's legend. */
export function endsOf(nodes: Nodes, figure: Exclude<Figure, "none">): readonly [string, string] {
  const scale = SCALES[figure];
  const { limits, text } = scale;
  if (limits === undefined) return [text(0), text(highest(valuesOf(nodes, scale)))];
  const { from, to } = limits;
  return scale.linear === true ? [text(from), text(to)] : [`≤ ${text(from)}`, `≥ ${text(to)}`];
}
