/** The dialect of a deployment: exact or plain PySpark, and what the latter does not support. */

import type { DeploymentSettings } from "../api/types";
import { phrase } from "../ui/i18n";

export const DIALECTS = [
  { value: "exact", label: phrase("Kafka Streams' results") },
  { value: "plain", label: phrase("Plain PySpark") },
] as const;

export function isPlain(settings: DeploymentSettings | undefined): boolean {
  return settings?.dialect === "plain";
}

/** The settings with another dialect, without settings that plain PySpark does not support. */
export function withDialect(
  settings: DeploymentSettings,
  dialect: string | null,
): DeploymentSettings {
  if (dialect !== "plain") return { ...settings, dialect: "exact" };
  const { real_time_ms, lost_offsets, jvm, standby, ...rest } = settings;
  return { ...rest, dialect };
}
