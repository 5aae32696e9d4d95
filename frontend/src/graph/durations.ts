/** Durations of the document: a whole number of milliseconds, or text such as `5 minutes`. */

import type { Json } from "./document";

/** Longest first: a length is written in the largest unit that divides it. */
const UNITS: readonly (readonly [name: string, size: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** Units and abbreviations that people may type in addition to the units of the document. */
const TYPED: Readonly<Record<string, number>> = {
  ...Object.fromEntries(UNITS),
  week: 604_800_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  hr: 3_600_000,
  m: 60_000,
  min: 60_000,
  s: 1000,
  sec: 1000,
  millisecond: 1,
  ms: 1,
  毫秒: 1,
  秒: 1000,
  秒钟: 1000,
  分: 60_000,
  分钟: 60_000,
  小时: 3_600_000,
  时: 3_600_000,
  天: 86_400_000,
  日: 86_400_000,
  周: 604_800_000,
};

const PART = /(\d+(?:\.\d+)?)\s*(\p{L}+)/gu;

function sizeOf(unit: string): number | undefined {
  const name = unit.toLowerCase();
  return TYPED[name] ?? TYPED[name.replace(/s$/, "")];
}

/** The milliseconds of a duration from a document or a field: `1h`, `10 min`, `1 h 30 m`; null for anything else. */
export function milliseconds(value: Json | undefined): number | null {
  if (typeof value === "number") return Number.isInteger(value) ? value : null;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (/^-?\d+$/.test(text)) return Number(text);
  const negative = text.startsWith("-");
  const rest = negative ? text.slice(1) : text;
  let total = 0;
  for (const [, amount, unit = ""] of rest.matchAll(PART)) {
    total += Number(amount) * (sizeOf(unit) ?? Number.NaN);
  }
  // Nothing may remain between the parts.
  if (rest === "" || rest.replace(PART, "").trim() !== "") return null;
  if (!Number.isSafeInteger(total)) return null;
  return negative ? -total : total;
}

/** Writes a duration in one unit: 3600000 is `1 hour`, 90000 is `90 seconds`. */
export function durationText(value: number): string {
  for (const [name, size] of UNITS) {
    if (value === 0 || value % size !== 0) continue;
    const count = value / size;
    return `${count} ${name}${Math.abs(count) === 1 ? "" : "s"}`;
  }
  return `${value} ms`;
}
