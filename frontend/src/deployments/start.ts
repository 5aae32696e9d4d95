/** Where a first run begins to read. */

import type { Deployment, DeploymentSettings } from "../api/types";
import { phrase } from "../ui/i18n";

const BY_SOURCE = "source";

export const STARTS = [
  { value: BY_SOURCE, label: phrase("As configured in each source") },
  { value: "earliest", label: phrase("Earliest record") },
  { value: "latest", label: phrase("Latest record") },
];

/** The choice in the settings. */
export function startOf(settings: DeploymentSettings): string {
  return settings.start ?? BY_SOURCE;
}

/** The settings with another choice. */
export function withStart(settings: DeploymentSettings, start: string | null): DeploymentSettings {
  const { start: _, ...rest } = settings;
  return start === "earliest" || start === "latest" ? { ...rest, start } : rest;
}

/** Whether the next run chooses where to start; with a checkpoint, it continues where the last one stopped. */
export function beginsAnew(deployment: Deployment | null): boolean {
  return deployment === null || (!deployment.has_checkpoint && deployment.run === null);
}
