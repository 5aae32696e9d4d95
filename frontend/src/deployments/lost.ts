/** The setting for a deployment whose next records no longer exist in the broker. */

import type { DeploymentSettings } from "../api/types";
import { phrase } from "../ui/i18n";

const FAIL = "fail";

export const LOST = [
  { value: FAIL, label: phrase("Fail without reading") },
  { value: "earliest", label: phrase("Continue at the first record") },
  { value: "latest", label: phrase("Continue at the end") },
];

/** The choice in the settings. */
export function lostOf(settings: DeploymentSettings): string {
  return settings.lost_offsets ?? FAIL;
}

/** The settings with another choice. */
export function withLost(settings: DeploymentSettings, choice: string | null): DeploymentSettings {
  const { lost_offsets: _, ...rest } = settings;
  return choice === "earliest" || choice === "latest" ? { ...rest, lost_offsets: choice } : rest;
}
