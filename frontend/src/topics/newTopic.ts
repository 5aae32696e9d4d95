import type { NewTopic } from "../api/types";
import { phrase } from "../ui/i18n";

/** Retention times for a new topic; "" is the broker's default. */
export const RETENTIONS = [
  { value: "", label: phrase("Broker's default") },
  { value: String(24 * 3_600_000), label: phrase("1 day") },
  { value: String(7 * 24 * 3_600_000), label: phrase("7 days") },
  { value: "-1", label: phrase("Forever") },
];

/** The request that creates a missing topic. */
export function newTopic(name: string, partitions: number, retention: string): NewTopic {
  return retention === ""
    ? { name, partitions }
    : { name, partitions, retention_ms: Number(retention) };
}
