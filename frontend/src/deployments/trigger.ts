/** When a deployment processes records: in micro-batches at an interval, or in real time. */

import type { DeploymentSettings } from "../api/types";
import { isPlain } from "../live/dialect";
import { phrase } from "../ui/i18n";
import { sharesJvm } from "./jvm";

const TRIGGERS = [
  { value: "0", label: phrase("As fast as possible") },
  { value: "500", label: phrase("Every 500 ms") },
  { value: "1000", label: phrase("Every second") },
  { value: "10000", label: phrase("Every 10 seconds") },
  { value: "real-time", label: phrase("Real time: each record at once") },
];

/** The available triggers; plain PySpark and a shared JVM support only micro-batches. */
export function triggersOf(settings: DeploymentSettings) {
  const batches = isPlain(settings) || sharesJvm(settings);
  return batches ? TRIGGERS.filter(({ value }) => value !== "real-time") : TRIGGERS;
}

/** The interval at which real time saves state and progress, which limits what a crash repeats. */
export const REAL_TIME_MS = 10_000;

/** The choice in the settings. */
export function triggerOf(settings: DeploymentSettings): string {
  return settings.real_time_ms === undefined ? String(settings.trigger_ms ?? 0) : "real-time";
}

/** The settings with another choice. */
export function withTrigger(settings: DeploymentSettings, trigger: string): DeploymentSettings {
  const { trigger_ms: _, real_time_ms: kept, ...rest } = settings;
  return trigger === "real-time"
    ? { ...rest, real_time_ms: kept ?? REAL_TIME_MS }
    : { ...rest, trigger_ms: Number(trigger) };
}
