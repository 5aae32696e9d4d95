import { expect, test } from "vitest";
import type { SimulationResult } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { coverable, covered, missed, NOTHING_COVERED } from "./coverage";

const DOCUMENT = {
  format: "millrace.topology/1",
  name: "test",
  settings: { deserialization_handler: "continue" },
  nodes: [
    { id: "in", kind: "source.stream", params: { topics: ["in"] } },
    { id: "some", kind: "filter", params: { predicate: "value > 1" } },
    { id: "both", kind: "split", params: { branches: [{ port: "a", predicate: "true" }] } },
    { id: "sum", kind: "count", params: { window: { type: "tumbling", size: "1 hour" } } },
    { id: "sums", kind: "store.window", params: { name: "sums" } },
  ],
  edges: [
    { source: "in", target: "some" },
    { source: "some", target: "both" },
    { source: "both", source_port: "a", target: "sum" },
    { source: "sums", target: "sum", target_port: "store" },
  ],
} as const satisfies TopologyDocument;

function ran(edges: number[], more: Partial<SimulationResult>): SimulationResult {
  return { edges, nodes: {}, steps: [], ...more } as SimulationResult;
}

test("nodes, edges and ways to end are counted; stores are none", () => {
  const all = coverable(DOCUMENT);
  expect([...all.nodes]).toEqual(["in", "some", "both", "sum"]);
  expect(all.edges.size).toBe(3);
  expect([...all.ways].sort()).toEqual([
    "both/no_branch",
    "in/deserialization",
    "some/filtered",
    "sum/late",
    "sum/null_key",
  ]);
});

test("runs add up to what is covered, and the rest is missed", () => {
  const step = { seq: 1, after: 1, event: "end", parent: 0, reason: "filtered" };
  const first = covered(
    NOTHING_COVERED,
    DOCUMENT,
    ran([1, 0, 0, 0], {
      nodes: {
        in: { in: 1, out: 1, dropped: {} },
        some: { in: 1, out: 0, dropped: {} },
        both: { in: 0, out: 0, dropped: {} },
      },
      steps: [{ ...step, node: "some" }] as SimulationResult["steps"],
    }),
  );
  const left = missed(DOCUMENT, first);
  expect([...left.nodes]).toEqual(["both", "sum"]);
  expect([...left.edges]).toEqual(["some.out>both.in", "both.a>sum.in"]);
  expect(left.ways.has("some/filtered")).toBe(false);
  const second = covered(
    first,
    DOCUMENT,
    ran([1, 1, 1, 0], {
      nodes: { both: { in: 1, out: 1, dropped: {} }, sum: { in: 1, out: 0, dropped: { late: 1 } } },
    }),
  );
  expect(missed(DOCUMENT, second).nodes.size).toBe(0);
  expect([...missed(DOCUMENT, second).ways].sort()).toEqual([
    "both/no_branch",
    "in/deserialization",
    "sum/null_key",
  ]);
});
