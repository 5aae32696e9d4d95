/** Texts for times, values and reasons in a simulation. */

import type { SimulationStep } from "../api/types";
import { findNode, labelOf, paramsOf, type TopologyDocument } from "../graph/document";
import { factsOf } from "../graph/kinds";
import { briefTime, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { isRepartitioned } from "./steps";

/** A key or a value in one line. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? t("null") : JSON.stringify(value);
}

const REASONS = {
  null_key: phrase("Its key is null, and this node requires a key."),
  null_value: phrase("Its value is null, and this node requires a value."),
  null_foreign_key: phrase("Its foreign key is null: there is nothing to join."),
  skipped_timestamp: phrase({
    id: "simulate.its_timestamp_is_null",
    message: "Its timestamp is null or negative, and the source skips such records.",
  }),
  outdated: phrase("A newer version for its key already exists."),
  stale: phrase("The row that requested it has changed in the meantime."),
  deserialization: phrase("Its bytes cannot be read in the format of the source."),
  processing: phrase("Processing it failed, and it was skipped."),
  production: phrase("The result cannot be sent, and it was skipped."),
} as const;

/** Why a record was dropped; `caused`: the step at which it entered the node. */
export function dropText(step: SimulationStep, caused: SimulationStep | undefined): string {
  if (step.dead_letter === true)
    return t({
      id: "simulate.processing_it_failed_and_it_was",
      message: "Processing it failed, and it was written to the dead letter topic.",
    });
  const { closed_until: closed, window_end: end, window_start: start } = step;
  if (step.reason === "late" && start !== undefined && end !== undefined && closed !== undefined) {
    const window = { start: briefTime(start), end: briefTime(end) };
    const now = caused?.stream_time;
    if (typeof now !== "number")
      return t("Late: its window {start} – {end} was already closed.", window);
    const by = span(Math.max(0, closed - end));
    return t(
      {
        id: "simulate.late_by_its_window",
        message:
          "Late by {by}: its window {start} – {end} closed when stream time reached {closing}. Stream time is {now}. A longer grace period would accept it.",
      },
      {
        ...window,
        by,
        now: briefTime(now),
        closing: briefTime(end + now - closed),
      },
    );
  }
  if (step.reason === "expired" && step.kept_from !== undefined) {
    return t("Too old for the store, which keeps records from {kept} on.", {
      kept: briefTime(step.kept_from),
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

const ENDINGS: Readonly<Record<string, Phrase>> = {
  no_branch: phrase("No branch matches it."),
  no_elements: phrase("Its array is empty, so nothing follows from it."),
  no_output: phrase("Its code sent nothing on for it."),
  no_window: phrase("Its time is before the first window."),
  looked_up: phrase("It updates the table in which the join looks rows up."),
  no_match: phrase("It found nothing to join on the other side at this time."),
  no_match_after_waiting: phrase("A record that had waited here found nothing to join."),
  no_match_yet: phrase("It waits in the join for a match."),
  waits: phrase("It waits in the join for a match."),
  held: phrase({
    id: "simulate.it_is_buffered_until",
    message: "It is buffered until its window closes or the time limit is reached.",
  }),
  outdated: phrase("A newer version for its key already exists."),
  null_key: phrase("Its key is null, and this node requires a key."),
  no_group: phrase("It belongs to no group, before or after the change."),
  unchanged: phrase("It changes nothing that the join depends on."),
  unsubscribed: phrase("The join no longer needs this row."),
};

/** Ends at which the record is not lost: it is kept for later, or only part of a node's own work. */
const KEPT = new Set([
  "waits",
  "no_match_yet",
  "held",
  "looked_up",
  "no_output",
  "unchanged",
  "unsubscribed",
]);

/** Whether a record that ended for this reason gives nothing, as far as is known. */
export function isLoss(reason: string): boolean {
  return !KEPT.has(reason);
}

/** Why a record ended without being dropped. */
export function endingText(document: TopologyDocument, step: SimulationStep, reason: string) {
  if (reason !== "filtered") {
    const known = ENDINGS[reason];
    return known === undefined ? reasonText(reason) : t(known);
  }
  const node = findNode(document, step.node);
  const text = String((node === undefined ? {} : paramsOf(node)).predicate ?? "");
  return t(
    node !== undefined && factsOf(node.kind).dropsMatches
      ? phrase("Filtered out: “{text}” is true for it.")
      : phrase("Filtered out: “{text}” is not true for it."),
    { text },
  );
}

/** What happens at a step, in one line. */
export function stepTitle(document: TopologyDocument, step: SimulationStep): string {
  const node = findNode(document, step.node);
  const name = node === undefined ? step.node : labelOf(node);
  if (step.event === "punctuate") return t("A schedule of {node} is due", { node: name });
  if (step.event === "stop") {
    const place = { line: step.line ?? 0, function: step.function ?? "", node: name };
    return step.after === 0
      ? t(
          {
            id: "simulate.paused_at_line_of_in_before",
            message: "Paused at line {line} of {node}, in {function}, before the first record",
          },
          place,
        )
      : t("Record {n}: paused at line {line} of {node}, in {function}", {
          ...place,
          n: step.after,
        });
  }
  if (isRepartitioned(step)) {
    return t(
      {
        id: "simulate.record_continues_in_in_task",
        message: "Record {n} continues in {node}, in task {task}, after its repartition topic",
      },
      {
        n: step.after,
        node: name,
        task: step.task ?? "",
      },
    );
  }
  if (step.inside === true) {
    return t("Record {n} continues in {node}", { n: step.after, node: name });
  }
  return t(
    step.event === "drop"
      ? phrase("Record {n} ends at {node}")
      : phrase("Record {n} enters {node}"),
    {
      n: step.after,
      node: name,
    },
  );
}
