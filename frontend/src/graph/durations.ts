/** Durations of the document: a whole number of milliseconds, or text such as `5 minutes`. */

import type { Json } from "./document";

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** Milliseconds; null for what is not a duration. */
export function milliseconds(value: Json | undefined): number | null {
  if (typeof value === "number") return Number.isInteger(value) ? value : null;
  if (typeof value !== "string") return null;
  const match = /^\s*(-?\d+)\s*([a-z]*)\s*$/i.exec(value);
  if (match === null) return null;
  const [, amount = "", unit = ""] = match;
  const name = unit.toLowerCase();
  const size = name === "" ? 1 : (UNITS[name] ?? UNITS[name.replace(/s$/, "")]);
  return size === undefined ? null : Number(amount) * size;
}
