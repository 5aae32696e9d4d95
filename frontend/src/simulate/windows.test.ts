import { expect, test } from "vitest";
import type { SimulationStep } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { moved } from "./moves";
import type { Shown } from "./store";
import { closesAt, closings, rowName } from "./windows";

const DOCUMENT = (window: Record<string, string>): TopologyDocument => ({
  format: "millrace.topology/1",
  name: "windows",
  nodes: [
    { id: "in", kind: "source.stream", params: {} },
    { id: "count", kind: "count", params: { window } },
    { id: "totals", kind: "store.window", params: { name: "totals" } },
  ],
  edges: [
    { source: "in", target: "count" },
    { source: "totals", target: "count", target_port: "store" },
  ],
});
const TUMBLING = DOCUMENT({ type: "tumbling", size: "10 seconds", grace: "2 seconds" });
const KEY = { key: "a", window: { start: 0, end: 10_000 } };

function record(seq: number, after: number, time: number, task = "0_0"): SimulationStep {
  return {
    ...{ seq, after, node: "count", parent: null, event: "record", task, stream_time: time },
  } as SimulationStep;
}
function write(seq: number, parent: number, value: number | null): SimulationStep {
  const row = { key: KEY, value, timestamp: 1 };
  return {
    ...{ seq, after: 1, node: "totals", parent, event: "store", store: "totals", row },
  } as SimulationStep;
}

test("a window closes at its end and grace, a session after its gap, a sliding one after its end", () => {
  const at = (document: TopologyDocument, node = "totals") =>
    closesAt(document, { ...write(1, 0, 1), node });
  expect(at(TUMBLING)).toBe(12_000);
  expect(at(TUMBLING, "count")).toBe(12_000);
  expect(at(DOCUMENT({ type: "session", gap: "3 seconds" }))).toBe(13_001);
  expect(at(DOCUMENT({ type: "sliding", difference: "1 second", grace: "1 s" }))).toBe(11_001);
  expect(at(TUMBLING, "in")).toBeNull();
});

test("the step at which stream time closes a window is found, and its row is closed from then on", () => {
  const steps = [
    record(0, 1, 5_000),
    write(1, 0, 1),
    record(2, 2, 11_999),
    record(3, 3, 50_000, "0_1"),
    record(4, 4, 12_000),
    record(5, 5, 13_000),
  ];
  const shown = { document: TUMBLING, result: { steps } } as unknown as Shown;
  expect(closings(TUMBLING, steps).at).toEqual([4]);
  expect(moved(shown, 0, "closeNext")).toBe(4);
  expect(moved(shown, 4, "closeNext")).toBe(4);
  expect([...closings(TUMBLING, steps, 3).closed]).toEqual([]);
  expect([...closings(TUMBLING, steps, 4).closed]).toEqual([rowName("totals", KEY)]);
  // A row that is gone is not closed.
  expect([...closings(TUMBLING, [...steps, write(6, 5, null)]).closed]).toEqual([]);
});
