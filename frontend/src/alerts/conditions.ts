/** The conditions of alerts in words. */

import type { AlertRule } from "../api/types";
import { exact, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";

export type Condition = AlertRule["condition"];

/** `unit` is the unit of the threshold; conditions on states have none. */
export const CONDITIONS: readonly {
  readonly id: Condition;
  readonly title: Phrase;
  readonly unit?: Phrase;
}[] = [
  { id: "failed", title: phrase("The deployment failed") },
  { id: "unknown", title: phrase("The state of the deployment is unknown") },
  {
    id: "degraded",
    title: phrase({
      id: "alerts.deployment_is_degraded_restarting",
      message: "The deployment is degraded, restarting or waiting for a service",
    }),
  },
  { id: "lag", title: phrase("Lag in records"), unit: phrase("records") },
  { id: "lag_time", title: phrase("Lag in time"), unit: phrase("s") },
  { id: "latency", title: phrase("Latency from the record's time (p99)"), unit: phrase("s") },
  { id: "arrival_latency", title: phrase("Latency from its arrival (p99)"), unit: phrase("s") },
  { id: "dropped", title: phrase("Dropped records"), unit: phrase("records/s") },
  { id: "dead_letters", title: phrase("Dead letters"), unit: phrase("records/s") },
  { id: "rejected", title: phrase("Rejected with a warning"), unit: phrase("records/s") },
  { id: "batch_duration", title: phrase("Duration of batches"), unit: phrase("s") },
  { id: "silence", title: phrase("Time without a record"), unit: phrase("s") },
];

export function conditionOf(id: Condition): { title?: Phrase; unit?: Phrase } {
  return CONDITIONS.find((each) => each.id === id) ?? {};
}

/** A threshold with its unit: `1,200 records`, `2.5 records/s`, `5 min`. */
export function amount(id: Condition, value: number): string {
  const { unit } = conditionOf(id);
  if (unit === "s") return span(value * 1000);
  const rounded = exact(Math.round(value * 10) / 10);
  return unit === undefined ? rounded : `${rounded} ${t(unit)}`;
}

/** The condition of a rule in words: `Lag in records above 1,000 records for 5 min`. */
export function ruleText(
  rule: Pick<AlertRule, "condition" | "threshold"> & { for_seconds?: number },
): string {
  const known = conditionOf(rule.condition).title;
  const title = known === undefined ? rule.condition : t(known);
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
