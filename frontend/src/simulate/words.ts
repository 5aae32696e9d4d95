/** Texts for times, values and reasons in a simulation. */

import type { SimulationStep } from "../api/types";
import { span } from "../ui/format";
import { phrase, t } from "../ui/i18n";
import type { Ending } from "./steps";

/** A time in milliseconds as `1970-01-01 00:30:00` (UTC), with milliseconds if there are any. */
export function timeText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return `${at} ms`;
  const text = date.toISOString().replace("T", " ").replace("Z", "");
  return text.endsWith(".000") ? text.slice(0, -4) : text;
}

/** A key or a value in one line. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? t("null") : JSON.stringify(value);
}

const REASONS = {
  null_key: phrase("Its key is null, and this node requires a key."),
  null_value: phrase("Its value is null, and this node requires a value."),
  null_foreign_key: phrase("Its foreign key is null: there is nothing to join."),
  skipped_timestamp: phrase(
    "Its timestamp is null or negative, and the source skips such records.",
  ),
  outdated: phrase("A newer version for its key already exists."),
  stale: phrase("The row that requested it has changed in the meantime."),
  deserialization: phrase("Its bytes cannot be read in the format of the source."),
  processing: phrase("Processing it failed, and it was skipped."),
} as const;

/** Why a record was dropped; `caused`: the step at which it entered the node. */
export function dropText(step: SimulationStep, caused: SimulationStep | undefined): string {
  if (step.dead_letter === true)
    return t("Processing it failed, and it was written to the dead letter topic.");
  const { closed_until: closed, window_end: end, window_start: start } = step;
  if (step.reason === "late" && start !== undefined && end !== undefined && closed !== undefined) {
    const window = { start: timeText(start), end: timeText(end) };
    const now = caused?.stream_time;
    if (typeof now !== "number")
      return t("Late: its window {start} – {end} was already closed.", window);
    const by = span(Math.max(0, closed - end));
    return t(
      "Late by {by}: its window {start} – {end} closed when stream time reached {closing}. Stream time is {now}. A longer grace period would accept it.",
      {
        ...window,
        by,
        now: timeText(now),
        closing: timeText(end + now - closed),
      },
    );
  }
  if (step.reason === "expired" && step.kept_from !== undefined) {
    return t("Too old for the store, which keeps records from {kept} on.", {
      kept: timeText(step.kept_from),
    });
  }
  return reasonText(step.reason ?? "");
}

/** The text of a reason without details of a record. */
export function reasonText(reason: string): string {
  const known = REASONS[reason as keyof typeof REASONS];
  return known === undefined
    ? t("Dropped: {reason}.", { reason: reason.replaceAll("_", " ") })
    : t(known);
}

const ENDINGS = {
  unmatched: phrase("No branch matches it."),
  no_row: phrase("The table has no row for its key at this time."),
  waits: phrase("It waits in the join for a match."),
  held: phrase("It is buffered until its window closes or the time limit is reached."),
} as const;

/** Why a record ended without being dropped. */
export function endingText(ending: NonNullable<Ending>, kind: string): string {
  if (ending.why !== "filtered") return t(ENDINGS[ending.why]);
  return t(
    kind === "filter_not"
      ? phrase("Filtered out: “{text}” is true for it.")
      : phrase("Filtered out: “{text}” is not true for it."),
    { text: ending.text },
  );
}
