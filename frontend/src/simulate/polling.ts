/** One simulation, with the wait for a simulator that is starting. */

import { type SimulationOptions, simulate, simulateDeployed } from "../api/compileCalls";
import type { Beginning, Simulation, TopologyTest } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { t } from "../ui/i18n";

const POLL_MS = 1_000;
/** A simulator that has not started after this many milliseconds will not. */
const PATIENCE_MS = 240_000;

/** Waits until it makes sense to ask again. */
export function wait(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** The answer, and the seconds that it took once the simulator was there. Throws as calls do. */
export async function simulated(
  workspace: string,
  document: TopologyDocument,
  lines: readonly unknown[],
  options: {
    readonly signal: AbortSignal;
    readonly expected?: TopologyTest["expected"];
    readonly starting?: () => void;
    /** The deployment whose version runs, and after which of its micro-batches. */
    readonly begins?: Beginning & { readonly deployment: number };
  } & SimulationOptions,
): Promise<{ answer: Simulation; seconds: number }> {
  const began = performance.now();
  for (;;) {
    const started = performance.now();
    const { begins, expected = null, signal, starting, ...more } = options;
    const answer =
      begins === undefined
        ? await simulate(workspace, document, lines, expected, signal, more)
        : await simulateDeployed(begins.deployment, lines, begins, signal, more);
    if (answer.state === "done") return { answer, seconds: (performance.now() - started) / 1_000 };
    if (performance.now() - began > PATIENCE_MS)
      throw new Error(
        t("The simulator did not start. See the log of the service simulator for the cause."),
      );
    starting?.();
    await wait(signal);
  }
}
