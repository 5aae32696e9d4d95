/** The states of deployments as words and dots. */

import type { Deployment, Observed } from "../api/types";
import type { DotState, Tone } from "../ui";
import { type Phrase, phrase, t } from "../ui/i18n";

const DOTS: Record<Observed, DotState> = {
  new: "starting",
  compiling: "starting",
  checking: "starting",
  staging: "starting",
  starting: "starting",
  running: "running",
  asleep: "asleep",
  restarting: "starting",
  paused: "stopped",
  degraded: "degraded",
  stopping: "starting",
  stopped: "stopped",
  failed: "failed",
  unknown: "unknown",
};

const WORDS: Record<Observed, Phrase> = {
  new: phrase("Not started"),
  compiling: phrase("Compiling"),
  checking: phrase("Checking"),
  staging: phrase("Staging"),
  starting: phrase("Starting"),
  running: phrase("Running"),
  asleep: phrase("Asleep"),
  restarting: phrase("Restarting"),
  paused: phrase("Paused"),
  degraded: phrase("Degraded"),
  stopping: phrase("Stopping"),
  stopped: phrase("Stopped"),
  failed: phrase("Failed"),
  unknown: phrase("Unknown"),
};

export function dotOf(state: Observed): DotState {
  return DOTS[state] ?? "unknown";
}

export function toneOf(state: Observed): Tone {
  const dot = dotOf(state);
  return dot === "asleep" || dot === "stopped" || dot === "unknown" ? "neutral" : dot;
}

export function wordOf(state: Observed): string {
  const word: Phrase | undefined = WORDS[state];
  return word === undefined ? state : t(word);
}

/** The version whose state is shown: until another one is started, the one that still runs. */
export function versionOf({ observed, run, version }: Deployment): number {
  return hasDriver(observed) ? (run?.version ?? version) : version;
}

/** True while a driver is alive that reads records, or will read the next one. */
export function hasDriver(state: Observed): boolean {
  return state === "running" || state === "asleep" || state === "paused";
}

/** True if nothing runs and nothing will by itself, so that the deployment can be deleted. */
export function isAtRest(state: Observed): boolean {
  return state === "stopped" || state === "failed" || state === "new";
}

/** True in a transitional state, which will change by itself. */
export function isMoving(state: Observed): boolean {
  return dotOf(state) === "starting";
}
