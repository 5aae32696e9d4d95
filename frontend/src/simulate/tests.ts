/** Runs of the tests that are kept with the topology that is open. */

import { create } from "zustand";
import type { NewTopologyTest, TopologyTest } from "../api/types";
import { useDesigner } from "../designer/store";
import { simulated } from "./asking";
import type { Shown } from "./store";
import { t } from "./texts";

export interface Verdict {
  readonly state: "running" | "passed" | "failed";
  /** What differs, or why it could not run. */
  readonly differences: readonly string[];
}

interface TestsState {
  readonly verdicts: Readonly<Record<number, Verdict>>;
  readonly busy: boolean;
  /** Runs the tests on the document as it is drawn, one after the other. */
  run(workspace: string, tests: readonly TopologyTest[]): Promise<void>;
  /** Ends the runs; tests that did not get as far have no verdict. */
  stop(): void;
}

let running: AbortController | null = null;

export const useTests = create<TestsState>()((set, get) => ({
  verdicts: {},
  busy: false,

  run: async (workspace, tests) => {
    get().stop();
    const controller = new AbortController();
    running = controller;
    const tell = (id: number, verdict: Verdict) =>
      set({ verdicts: { ...get().verdicts, [id]: verdict } });
    const { document } = useDesigner.getState();
    set({ busy: true });
    for (const test of tests) {
      tell(test.id, { state: "running", differences: [] });
      const differences = await differencesOf(workspace, document, test, controller.signal);
      if (controller.signal.aborted) return;
      tell(test.id, { state: differences.length === 0 ? "passed" : "failed", differences });
    }
    set({ busy: false });
  },

  stop: () => {
    running?.abort();
    running = null;
    const ended = Object.entries(get().verdicts).filter(([, each]) => each.state !== "running");
    set({ busy: false, verdicts: Object.fromEntries(ended) });
  },
}));

async function differencesOf(
  workspace: string,
  document: Shown["document"],
  test: TopologyTest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { expected, inputs } = test;
  try {
    const { answer } = await simulated(workspace, document, inputs, { signal, expected });
    return answer.result === null ? [t("refused")] : (answer.result.differences ?? []);
  } catch (error) {
    return [(error as Error).message];
  }
}

// Verdicts are about the topology as it was drawn when its tests ran.
useDesigner.subscribe((state, before) => {
  if (state.topologyId === before.topologyId && state.revision === before.revision) return;
  useTests.getState().stop();
  useTests.setState({ verdicts: {} });
});

/** The test that expects what a simulation gave; null where not all of it was answered. */
export function testOf(name: string, shown: Shown): NewTopologyTest | null {
  const { result } = shown;
  if (result.error !== null || result.output_count > result.outputs.length) return null;
  const { dropped, outputs, stores } = result;
  return { name, inputs: [...shown.lines] as never, expected: { outputs, stores, dropped } };
}
