/** Where the checkpoint of a deployment is stored. */

import type { DeploymentSettings } from "../api/types";
import { t } from "../ui/i18n";

/** A URI without a user, password or query, which the server would refuse. */
const PLACE = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/;

/** The settings with another place; an empty one is the server's data folder. */
export function withPlace(settings: DeploymentSettings, place: string): DeploymentSettings {
  const { checkpoint: _, ...rest } = settings;
  return place.trim() ? { ...rest, checkpoint: place.trim() } : rest;
}

/** Why a deployment cannot have its checkpoint there; null if it can. */
export function placeProblem({ checkpoint }: DeploymentSettings): string | null {
  if (checkpoint === undefined || PLACE.test(checkpoint)) return null;
  return t({
    id: "deployments.enter_uri_such_as_s",
    message: "Enter a URI such as s3a://bucket/folder, without a user, a password or a query.",
  });
}
