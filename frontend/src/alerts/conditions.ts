/** What alerts are about, in words. */

import type { AlertRule } from "../api/types";
import { t } from "../app/phrases";
import { exact, span } from "../ui/format";

export type Condition = AlertRule["condition"];

/** Titles are keys of texts; `unit` is that of the threshold, which states do not have. */
export const CONDITIONS: readonly {
  readonly id: Condition;
  readonly title: string;
  readonly unit?: string;
}[] = [
  { id: "failed", title: "The deployment failed" },
  { id: "unknown", title: "Its state is unknown" },
  { id: "degraded", title: "It is degraded, restarts or waits for a service" },
  { id: "lag", title: "Lag in records", unit: "records" },
  { id: "lag_time", title: "Lag in time", unit: "s" },
  { id: "latency", title: "Latency from the record's time (p99)", unit: "s" },
  { id: "arrival_latency", title: "Latency from its arrival (p99)", unit: "s" },
  { id: "dropped", title: "Dropped records", unit: "records/s" },
  { id: "dead_letters", title: "Dead letters", unit: "records/s" },
  { id: "batch_duration", title: "Duration of batches", unit: "s" },
  { id: "silence", title: "Time without a record", unit: "s" },
];

export function conditionOf(id: Condition) {
  return CONDITIONS.find((each) => each.id === id) ?? { id, title: id };
}

/** `1,200 records`, `2.5 records/s`, `5 min`. */
export function amount(id: Condition, value: number): string {
  const { unit } = conditionOf(id);
  if (unit === "s") return span(value * 1000);
  const rounded = exact(Math.round(value * 10) / 10);
  return unit === undefined ? rounded : `${rounded} ${t(unit)}`;
}

/** What a rule waits for: `Lag in records above 1,000 records for 5 min`. */
export function ruleText(
  rule: Pick<AlertRule, "condition" | "threshold"> & { for_seconds?: number },
): string {
  const title = t(conditionOf(rule.condition).title);
  const above =
    rule.threshold === null || rule.threshold === undefined
      ? title
      : t("{figure} above {value}", {
          figure: title,
          value: amount(rule.condition, rule.threshold),
        });
  const seconds = rule.for_seconds ?? 0;
  return seconds === 0
    ? above
    : t("{condition} for {time}", { condition: above, time: span(seconds * 1000) });
}
