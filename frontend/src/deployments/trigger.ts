/** When a deployment takes records: in micro-batches every so often, or each one at once. */

import type { DeploymentSettings } from "../api/types";
import { phrase } from "../ui/i18n";
import { isPlain } from "./dialect";

const TRIGGERS = [
  { value: "0", label: phrase("As fast as possible") },
  { value: "500", label: phrase("Every 500 ms") },
  { value: "1000", label: phrase("Every second") },
  { value: "10000", label: phrase("Every 10 seconds") },
  { value: "real-time", label: phrase("Real time: each record at once") },
];

/** The choices; plain PySpark runs in micro-batches. */
export function triggersOf(settings: DeploymentSettings) {
  return isPlain(settings) ? TRIGGERS.filter(({ value }) => value !== "real-time") : TRIGGERS;
}

/** How often real time keeps state and progress: what a crash repeats at most. */
export const REAL_TIME_MS = 10_000;

/** The choice that the settings stand for. */
export function triggerOf(settings: DeploymentSettings): string {
  return settings.real_time_ms === undefined ? String(settings.trigger_ms ?? 0) : "real-time";
}

/** The settings with another choice; the rest stays. */
export function withTrigger(settings: DeploymentSettings, trigger: string): DeploymentSettings {
  const { trigger_ms: _, real_time_ms: kept, ...rest } = settings;
  return trigger === "real-time"
    ? { ...rest, real_time_ms: kept ?? REAL_TIME_MS }
    : { ...rest, trigger_ms: Number(trigger) };
}
