/** Runs the tests of the open topology. */

import { create } from "zustand";
import type { Difference, NewTopologyTest, SimulationResult, TopologyTest } from "../api/types";
import { useDesigner } from "../designer/store";
import { t } from "../ui/i18n";
import { type Coverage, covered, NOTHING_COVERED } from "./coverage";
import type { Actual } from "./diff";
import { partOfTests } from "./pins";
import { simulated } from "./polling";
import { type Shown, useSimulation } from "./store";

export interface Verdict {
  readonly state: "running" | "passed" | "failed";
  readonly differences: readonly Difference[];
  /** What the run gave; null if it could not run, or is still running. */
  readonly actual: Actual | null;
  /** Why the test could not run; null if it ran. */
  readonly failure: string | null;
  /** The nodes for which a double ran. */
  readonly doubles?: readonly string[];
}

interface TestsState {
  readonly verdicts: Readonly<Record<number, Verdict>>;
  readonly busy: boolean;
  /** The coverage of the last run; null before the first one. */
  readonly coverage: Coverage | null;
  /** Runs the tests on the current document, one after the other. */
  run(workspace: string, tests: readonly TopologyTest[]): Promise<void>;
  /** Stops the run; remaining tests have no verdict. */
  stop(): void;
}

let running: AbortController | null = null;

export const useTests = create<TestsState>()((set, get) => ({
  verdicts: {},
  busy: false,
  coverage: null,

  run: async (workspace, tests) => {
    get().stop();
    const controller = new AbortController();
    running = controller;
    const setVerdict = (id: number, verdict: Verdict) =>
      set({ verdicts: { ...get().verdicts, [id]: verdict } });
    const { document } = useDesigner.getState();
    set({ busy: true, coverage: NOTHING_COVERED });
    for (const test of tests) {
      setVerdict(test.id, { state: "running", differences: [], actual: null, failure: null });
      const { result, ...found } = await ran(workspace, document, test, controller.signal);
      if (controller.signal.aborted) return;
      if (result !== null) {
        set({ coverage: covered(get().coverage ?? NOTHING_COVERED, document, result) });
      }
      const passed = found.failure === null && found.differences.length === 0;
      const actual = result === null ? null : actualOf(result);
      const doubles = result?.part?.doubles ?? [];
      setVerdict(test.id, { state: passed ? "passed" : "failed", actual, doubles, ...found });
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

/** The part of a result that tests compare, without its many steps. */
function actualOf({ dropped, output_count, outputs, stores }: SimulationResult): Actual {
  return { dropped, output_count, outputs, stores };
}

async function ran(
  workspace: string,
  document: Shown["document"],
  test: TopologyTest,
  signal: AbortSignal,
): Promise<Omit<Verdict, "state" | "actual"> & { readonly result: SimulationResult | null }> {
  const { expected, inputs } = test;
  try {
    const part = useSimulation.getState().pins ? partOfTests(document) : null;
    const { answer } = await simulated(workspace, document, inputs, {
      signal,
      expected,
      ...(part === null ? {} : { part }),
    });
    const { result } = answer;
    const failure = result === null ? t("The topology has errors. See the Problems tab.") : null;
    return { differences: result?.differences ?? [], failure, result };
  } catch (error) {
    return { differences: [], failure: (error as Error).message, result: null };
  }
}

// Verdicts apply only to the document on which the tests ran.
useDesigner.subscribe((state, before) => {
  if (state.topologyId === before.topologyId && state.revision === before.revision) return;
  useTests.getState().stop();
  useTests.setState({ verdicts: {}, coverage: null });
});

/** A test that expects the results of a simulation; null if it failed or not all its outputs were returned. */
export function testOf(name: string, shown: Shown): NewTopologyTest | null {
  const { result } = shown;
  if (result.error !== null || result.output_count > result.outputs.length) return null;
  const { dropped, outputs, stores } = result;
  return { name, inputs: [...shown.lines] as never, expected: { outputs, stores, dropped } };
}
