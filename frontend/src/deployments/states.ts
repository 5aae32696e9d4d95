/** A deployment's states in words and shapes. */

import type { Observed } from "../api/types";
import { t } from "../app/phrases";
import type { DotState, Tone } from "../ui";

const DOTS: Record<Observed, DotState> = {
  new: "starting",
  compiling: "starting",
  checking: "starting",
  staging: "starting",
  starting: "starting",
  running: "running",
  restarting: "starting",
  paused: "stopped",
  degraded: "degraded",
  stopping: "starting",
  stopped: "stopped",
  failed: "failed",
  unknown: "unknown",
};

const WORDS: Record<Observed, string> = {
  new: "Not started",
  compiling: "Compiling",
  checking: "Checking",
  staging: "Staging",
  starting: "Starting",
  running: "Running",
  restarting: "Restarting",
  paused: "Paused",
  degraded: "Degraded",
  stopping: "Stopping",
  stopped: "Stopped",
  failed: "Failed",
  unknown: "Unknown",
};

export function dotOf(state: Observed): DotState {
  return DOTS[state] ?? "unknown";
}

export function toneOf(state: Observed): Tone {
  const dot = dotOf(state);
  return dot === "stopped" || dot === "unknown" ? "neutral" : dot;
}

export function wordOf(state: Observed): string {
  return t(WORDS[state] ?? state);
}

/** True while something is on its way and will change by itself. */
export function isMoving(state: Observed): boolean {
  return dotOf(state) === "starting";
}
