/** Runs a simulation, waiting for a simulator that is starting. */

import {
  prepareSimulator,
  type SimulationOptions,
  simulate,
  simulateDeployed,
} from "../api/compileCalls";
import type { Beginning, Simulation, SimulationProgress, TopologyTest } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";

export const POLL_MS = 300;
/** The interval in milliseconds at which the progress of a run is requested. */
const WATCH_MS = 400;
/** How long to wait for a simulator to start, in milliseconds. */
export const PATIENCE_MS = 240_000;

/** Waits before the next request; rejects if the signal is aborted. */
export function wait(signal: AbortSignal, milliseconds = POLL_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Reports the progress of a run until the signal is aborted. */
async function watch(
  workspace: string,
  run: string,
  signal: AbortSignal,
  onProgress: (progress: SimulationProgress) => void,
): Promise<void> {
  for (;;) {
    await wait(signal, WATCH_MS);
    const { progress } = await prepareSimulator(workspace, run);
    if (progress !== null && !signal.aborted) onProgress(progress);
  }
}

/** Returns the response and the seconds that the run took, without the start of the simulator. Throws API errors. */
export async function simulated(
  workspace: string,
  document: TopologyDocument,
  lines: readonly unknown[],
  options: {
    readonly signal: AbortSignal;
    readonly expected?: TopologyTest["expected"];
    readonly starting?: () => void;
    /** Called with the progress of a run that has a name. */
    readonly progress?: (progress: SimulationProgress) => void;
    /** The deployment whose version runs, and the micro-batch after which its stores are taken. */
    readonly begins?: Beginning & { readonly deployment: number };
  } & SimulationOptions,
): Promise<{ answer: Simulation; seconds: number }> {
  const began = performance.now();
  for (;;) {
    const started = performance.now();
    const { begins, expected = null, progress, signal, starting, ...more } = options;
    const over = new AbortController();
    if (more.run !== undefined && progress !== undefined)
      void watch(workspace, more.run, over.signal, progress).catch(() => undefined);
    const answer = await (begins === undefined
      ? simulate(workspace, document, lines, expected, signal, more)
      : simulateDeployed(begins.deployment, lines, begins, signal, more)
    ).finally(() => over.abort());
    if (answer.state === "done") return { answer, seconds: (performance.now() - started) / 1_000 };
    if (performance.now() - began > PATIENCE_MS)
      throw new Error(
        t({
          id: "common.simulator_did_not_start",
          message:
            "The simulator did not start. See the log of the service simulator for the cause.",
        }),
      );
    starting?.();
    await wait(signal);
  }
}
