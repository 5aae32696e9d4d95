import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { edgeId } from "../graph/document";
import { newRow } from "./scenario";
import { useSimulation } from "./store";

const cancelled = vi.fn();
let answer: { give: (value: unknown) => void; refuse: (error: unknown) => void };
vi.mock("../api/compileCalls", () => ({
  simulate: () =>
    new Promise((give, refuse) => {
      answer = { give, refuse };
    }),
  prepareSimulator: async () => ({
    state: "ready",
    progress: { done: 2, lines: 3, edges: [2], nodes: { out: { dropped: { null_key: 1 } } } },
  }),
  cancelSimulation: async (...given: unknown[]) => cancelled(...given),
}));

const text = { format: "string" };
const edge = { source: "in", target: "out" };
const DOCUMENT = {
  ...{ format: "millrace.topology/1", name: "test", edges: [edge] },
  nodes: [
    { id: "in", kind: "source.stream", params: { topics: ["in"], key: text, value: text } },
    { id: "out", kind: "sink.topic", params: { topic: "out" } },
  ],
};
const RESULT = {
  ...{ outputs: [], output_count: 0, dropped: 0, edges: [2], nodes: {}, stores: {}, steps: [] },
  ...{ breakpoints: {}, logs: [], error: null, stopped_after: 2 },
};

beforeEach(() => {
  vi.useFakeTimers();
  cancelled.mockReset();
  useDesigner.setState({ document: DOCUMENT as never });
  useSimulation.getState().close();
  const rows = [1, 2, 3].map((n) => newRow({ topic: "in", value: "x", timestamp: `${n}` }));
  useSimulation.setState({ rows });
});
afterEach(() => {
  useSimulation.getState().close();
  vi.useRealTimers();
});

test("a run under way shows its counts, and once it is cancelled the results that it has", async () => {
  const run = useSimulation.getState().run("main");
  expect(useSimulated.getState().edges).toBeNull();
  await vi.advanceTimersByTimeAsync(500);
  expect(useSimulated.getState().edges).toEqual({ [edgeId(edge)]: 2 });
  expect(Object.values(useSimulated.getState().drops.out ?? {})).toEqual([1]);
  useSimulation.getState().cancel("main");
  const { name, phase, progress } = useSimulation.getState();
  expect([phase, progress?.done]).toEqual(["cancelling", 2]);
  expect(cancelled.mock.calls).toEqual([["main", name]]);
  answer.give({ state: "done", diagnostics: [], result: RESULT, plain: null });
  await run;
  const { shown } = useSimulation.getState();
  expect([shown?.lines.length, shown?.cancelledOf]).toEqual([2, 3]);
  expect(useSimulation.getState()).toMatchObject({ phase: "idle", progress: null });
});

test("of a run that was killed the counts are left, and who cancels twice does not wait", async () => {
  const run = useSimulation.getState().run("main");
  await vi.advanceTimersByTimeAsync(500);
  useSimulation.getState().cancel("main");
  answer.refuse(
    new ApiError(409, { error: { code: "simulation_cancelled", message: "Canceled." } } as never),
  );
  await run;
  expect(useSimulation.getState()).toMatchObject({ phase: "idle", shown: null, failure: null });
  expect(useSimulation.getState().progress?.done).toBe(2);
  expect(useSimulated.getState().edges).toEqual({ [edgeId(edge)]: 2 });

  void useSimulation.getState().run("main");
  useSimulation.getState().cancel("main");
  useSimulation.getState().cancel("main");
  expect(cancelled.mock.calls.at(-1)).toEqual(["main", undefined]);
  expect(useSimulation.getState().phase).toBe("idle");
});
