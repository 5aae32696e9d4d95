/** Where the checkpoint of a deployment lies. */

import type { DeploymentSettings } from "../api/types";

/** The settings with another place; an empty one is the server's data folder. */
export function withPlace(settings: DeploymentSettings, place: string): DeploymentSettings {
  const { checkpoint: _, ...rest } = settings;
  return place.trim() ? { ...rest, checkpoint: place.trim() } : rest;
}
