/** The window with the deployment's steps, opened by whatever starts one. */

import { create } from "zustand";
import type { Deployment, DeploymentStep } from "../api/types";
import { millis } from "../runtime/figures";

export const useSteps = create<{ opened: boolean }>()(() => ({ opened: false }));

export function showSteps(): void {
  useSteps.setState({ opened: true });
}

export function hideSteps(): void {
  useSteps.setState({ opened: false });
}

/** How long a step took, or has been taking; null before it began. Milliseconds. */
export function lengthOf(step: DeploymentStep, now: number): number | null {
  const from = millis(step.started_at);
  if (from === null) return null;
  return Math.max(0, (millis(step.finished_at) ?? now) - from);
}

/** From the first step's start to the last one's end; null as long as one of them is open. */
export function totalOf(deployment: Deployment): number | null {
  const starts = deployment.steps
    .map((step) => millis(step.started_at))
    .filter((at) => at !== null);
  const ends = deployment.steps.map((step) => millis(step.finished_at));
  if (starts.length === 0 || ends.some((end) => end === null)) return null;
  return Math.max(...(ends as number[])) - Math.min(...starts);
}
