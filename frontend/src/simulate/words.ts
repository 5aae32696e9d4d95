/** Times, values and reasons of a simulation in words. */

import type { SimulationStep } from "../api/types";
import { span } from "../ui/format";
import type { Ending } from "./steps";
import { t } from "./texts";

/** A time in milliseconds as `1970-01-01 00:30:00` (UTC), with milliseconds where it has some. */
export function timeText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return `${at} ms`;
  const text = date.toISOString().replace("T", " ").replace("Z", "");
  return text.endsWith(".000") ? text.slice(0, -4) : text;
}

/** A key or a value in one line. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? t("none") : JSON.stringify(value);
}

const REASONS = {
  null_key: () => t("reason_null_key"),
  null_value: () => t("reason_null_value"),
  null_foreign_key: () => t("reason_null_foreign_key"),
  skipped_timestamp: () => t("reason_skipped_timestamp"),
  outdated: () => t("reason_outdated"),
  stale: () => t("reason_stale"),
  deserialization: () => t("reason_deserialization"),
  processing: () => t("reason_processing"),
} as const;

/** Why a record was dropped; `caused`: the step at which it entered the node. */
export function dropText(step: SimulationStep, caused: SimulationStep | undefined): string {
  if (step.dead_letter === true) return t("reason_dead_letter");
  const { closed_until: closed, window_end: end, window_start: start } = step;
  if (step.reason === "late" && start !== undefined && end !== undefined && closed !== undefined) {
    const window = { start: timeText(start), end: timeText(end) };
    const now = caused?.stream_time;
    if (typeof now !== "number") return t("reason_lateShort", window);
    const by = span(Math.max(0, closed - end));
    return t("reason_late", {
      ...window,
      by,
      now: timeText(now),
      closing: timeText(end + now - closed),
    });
  }
  if (step.reason === "expired" && step.kept_from !== undefined) {
    return t("reason_expired", { kept: timeText(step.kept_from) });
  }
  const known = REASONS[step.reason as keyof typeof REASONS];
  return known === undefined
    ? t("reason_other", { reason: (step.reason ?? "").replaceAll("_", " ") })
    : known();
}

/** Why a record ended that was not dropped. */
export function endingText(ending: NonNullable<Ending>, kind: string): string {
  if (ending.why !== "filtered") return t(ending.why);
  return t(kind === "filter_not" ? "filteredNot" : "filtered", { text: ending.text });
}
