/** Figures that may be unknown. An unknown figure is shown as a dash, never as zero. */

import { exact } from "../ui/format";

export const UNKNOWN = "–";

export function known<T>(value: T | null | undefined, write: (value: T) => string): string {
  return value === null || value === undefined || Number.isNaN(value) ? UNKNOWN : write(value);
}

/** The exact number for a tooltip; undefined if unknown. */
export function exactly(value: number | null | undefined, unit = ""): string | undefined {
  if (value === null || value === undefined || Number.isNaN(value)) return undefined;
  const text = exact(Math.round(value * 1000) / 1000);
  return unit === "" ? text : `${text} ${unit}`;
}

/** Milliseconds since the epoch of an API time; null if there is none. */
export function millis(time: number | string | null | undefined): number | null {
  if (time === null || time === undefined || time === "") return null;
  const at = typeof time === "number" ? time : Date.parse(time);
  return Number.isFinite(at) ? at : null;
}
