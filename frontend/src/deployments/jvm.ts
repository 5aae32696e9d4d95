/** The JVM of a deployment's driver: its own, or one that it shares with others. */

import type { Deployment, DeploymentSettings } from "../api/types";
import { phrase, t } from "../ui/i18n";

export const JVMS = [
  { value: "own", label: phrase("Its own") },
  { value: "shared", label: phrase("Shared with other deployments") },
];

export function sharesJvm(settings: DeploymentSettings): boolean {
  return settings.jvm === "shared";
}

/** The settings with another choice, without settings that need a JVM of one's own. */
export function withJvm(settings: DeploymentSettings, choice: string | null): DeploymentSettings {
  const { jvm: _, ...kept } = settings;
  if (choice !== "shared") return kept;
  const { cores, memory_mb, real_time_ms, checkpoint, standby, ...rest } = kept;
  return { ...rest, jvm: "shared" };
}

const ALONE = {
  code: phrase({
    id: "deployments.its_own_because_topology",
    message: "its own, because the topology runs Python code or reads files",
  }),
  system: phrase("its own, because this system cannot share JVMs"),
  heap: phrase("its own, because the heap of the shared one was full"),
  hang: phrase({
    id: "deployments.its_own_because_task",
    message: "its own, because a task of this version did not end in the shared one",
  }),
} as const;

/** A sentence about the JVM of the running driver; null if it has its own, as requested. */
export function jvmOf(run: Deployment["run"]): string | null {
  if (run === null) return null;
  if (run.jvm.host !== null) return t("shared: {host}", { host: run.jvm.host });
  return run.jvm.alone === null ? null : t(ALONE[run.jvm.alone]);
}
