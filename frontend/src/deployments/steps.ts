/** The dialog with a deployment's steps; opened by every action that starts one. */

import { create } from "zustand";
import type { Deployment, DeploymentStep, Promotion } from "../api/types";
import { millis } from "../live/figures";

export const useSteps = create<{ opened: boolean }>()(() => ({ opened: false }));

export function showSteps(): void {
  useSteps.setState({ opened: true });
}

export function hideSteps(): void {
  useSteps.setState({ opened: false });
}

/** Whether the dialog is open in which a person chooses where a stopped deployment starts. */
export const useStarting = create<{ open: boolean }>()(() => ({ open: false }));

export function openStart(open: boolean): void {
  useStarting.setState({ open });
}

/** Whether the dialog for the threads and memory of a running deployment is open. */
export const useScaling = create<{ open: boolean }>()(() => ({ open: false }));

export function openScale(open: boolean): void {
  useScaling.setState({ open });
}

/** Whether the dialog for the shadow of a deployment is open. */
export const useShadowing = create<{ open: boolean }>()(() => ({ open: false }));

export function openShadow(open: boolean): void {
  useShadowing.setState({ open });
}

/** Whether the dialog is open that deletes the shown deployment. */
export const useDeleting = create<{ open: boolean }>()(() => ({ open: false }));

export function openDelete(open: boolean): void {
  useDeleting.setState({ open });
}

/** A deployment that a promotion would create, while a person reviews it. */
export interface Proposal {
  readonly source: Deployment;
  readonly promotion: Promotion;
}

export const usePromoting = create<{ proposal: Proposal | null }>()(() => ({ proposal: null }));

/** The duration of a step so far, in milliseconds; null if it has not started. */
export function lengthOf(step: DeploymentStep, now: number): number | null {
  const from = millis(step.started_at);
  if (from === null) return null;
  return Math.max(0, (millis(step.finished_at) ?? now) - from);
}

/** Total duration of all steps; null while one of them is open. After a crash only the last step is repeated. */
export function totalOf(deployment: Deployment): number | null {
  const lengths = deployment.steps.map((step) =>
    step.finished_at === null ? null : lengthOf(step, 0),
  );
  if (lengths.length === 0 || lengths.includes(null)) return null;
  return lengths.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}
