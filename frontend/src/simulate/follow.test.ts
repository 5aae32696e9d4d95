import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import { edgeId } from "../graph/document";
import { follow } from "./follow";
import { useSimulation } from "./store";

const asked = vi.fn();
const cancelled = vi.fn();
let give: (value: unknown) => void;
const answered = (...given: unknown[]) => {
  asked(...given);
  return new Promise((resolve) => {
    give = resolve;
  });
};
vi.mock("../api/compileCalls", () => ({
  simulateDeployed: (...given: unknown[]) => answered(...given),
  prepareSimulator: async (_ws: string, run: string) => ({
    state: "ready",
    progress: run === asked.mock.lastCall?.at(-1).run ? PROGRESS : null,
  }),
  cancelSimulation: async (...given: unknown[]) => cancelled(...given),
}));
vi.mock("../api/topologyCalls", () => ({ sampleInputs: async () => ({ inputs: [] }) }));
vi.mock("../api/deploymentCalls", () => ({ followRecord: async () => FOUND }));

const text = { format: "string" };
const edge = { source: "in", target: "out" };
const DOCUMENT = {
  ...{ format: "millrace.topology/1", name: "test", edges: [edge] },
  nodes: [
    { id: "in", kind: "source.stream", params: { topics: ["in"], key: text, value: text } },
    { id: "out", kind: "sink.topic", params: { topic: "out" } },
  ],
};
const line = (offset: number) => ({ topic: "in", partition: 0, offset, value: "x", timestamp: 1 });
const FOUND = {
  ...{ state: "found", version: 3, document: DOCUMENT, topic_partitions: { in: 1 } },
  ...{ lines: [line(1), line(2), line(3)], input: 3, record: line(3) },
  ...{ partitions: [], begins: { batch: 4, tasks: null } },
};
const PROGRESS = { done: 1, lines: 3, edges: [1], nodes: {} };
const RESULT = {
  ...{ outputs: [], output_count: 0, dropped: 0, edges: [1], nodes: {}, stores: {}, steps: [] },
  ...{ breakpoints: {}, logs: [], error: null, truncated: true, stopped_after: 1 },
};

beforeEach(() => {
  vi.useFakeTimers();
  useDesigner.setState({ document: DOCUMENT as never });
});
afterEach(() => {
  useSimulation.getState().close();
  vi.useRealTimers();
});

test("a followed record is simulated with progress, and cancelled by the name of its run", async () => {
  const following = follow("main", 7, 5, { topic: "in", partition: 0, offset: 3 });
  await vi.advanceTimersByTimeAsync(500);
  expect(useSimulation.getState()).toMatchObject({ phase: "running", progress: PROGRESS });
  expect(useSimulated.getState().edges).toEqual({ [edgeId(edge)]: 1 });
  useSimulation.getState().cancel("main");
  const { name, phase } = useSimulation.getState();
  expect(phase).toBe("cancelling");
  expect(cancelled.mock.calls).toEqual([["main", name]]);
  give({ state: "done", diagnostics: [], result: RESULT, plain: null });
  await following;
  // It is not repeated with fewer records, unlike a simulation with too many steps.
  expect(asked).toHaveBeenCalledOnce();
  const { progress, shown } = useSimulation.getState();
  expect([progress, shown?.lines.length, shown?.cancelledOf]).toEqual([null, 1, 3]);
});
