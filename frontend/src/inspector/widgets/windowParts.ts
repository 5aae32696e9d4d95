/** The parts of windows that have a field, without the fields. */

import type { Json } from "../../graph/document";
import { asText } from "./widget";

export type Part =
  | "code"
  | "size"
  | "unit"
  | "time_zone"
  | "offset"
  | "advance"
  | "grace"
  | "difference"
  | "gap"
  | "start";

/** The parts of each type of window, named as in the topology document. */
export const PARTS: Readonly<Record<string, readonly Part[]>> = {
  tumbling: ["size", "unit", "time_zone", "offset", "grace"],
  hopping: ["size", "advance", "offset", "grace"],
  sliding: ["difference", "grace"],
  session: ["gap", "grace"],
  unlimited: ["start"],
  custom: ["code", "size", "grace"],
};

/** The parts to show: a tumbling window has a size, or a calendar unit with its time zone. */
export function shownParts(window: Readonly<Record<string, Json>>): readonly Part[] {
  const parts = PARTS[asText(window.type)] ?? [];
  const hidden: readonly Part[] = window.unit == null ? ["time_zone"] : ["size"];
  return parts.filter((part) => !hidden.includes(part) || window[part] != null);
}
