/** The second driver of a deployment, which takes over when the first one is lost. */

import { describeCause } from "../api/prose";
import type { Deployment, DeploymentSettings } from "../api/types";
import { type Phrase, phrase, t } from "../ui/i18n";

/** The settings with a standby or without one. */
export function withStandby(settings: DeploymentSettings, wanted: boolean): DeploymentSettings {
  const { standby: _, ...rest } = settings;
  return wanted ? { ...rest, standby: true } : rest;
}

const STATES: Readonly<Record<NonNullable<Deployment["standby"]>["state"], Phrase>> = {
  absent: phrase("none yet"),
  preparing: phrase("is being prepared"),
  ready: phrase("ready to take over"),
  failed: phrase("ended while it was prepared; tried again in a minute"),
};

/** What is known of the standby, or why there is none; null if the settings do not ask for one. */
export function standbyOf({ standby }: Pick<Deployment, "standby">): string | null {
  if (standby === null) return null;
  if (standby.reason !== null) return describeCause(standby.reason);
  return t(STATES[standby.state]);
}
