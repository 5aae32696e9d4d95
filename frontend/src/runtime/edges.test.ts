import { expect, test } from "vitest";
import type { EdgeRecord } from "../api/types";
import {
  edgeFigures,
  edgeWithRecords,
  type NodeFigures,
  type RuntimeFigures,
} from "../designer/runtime";
import type { TopologyDocument } from "../graph/document";
import { linesOf, sourcesOf } from "../simulate/scenario";
import { inputsOf, placeOf } from "./edges";

const DOCUMENT: TopologyDocument = {
  format: "millrace.topology/1",
  name: "test",
  nodes: [
    {
      id: "in",
      kind: "source.stream",
      params: { topics: ["orders"], key: { format: "string" }, value: { format: "json" } },
    },
    { id: "split", kind: "split" },
    { id: "all", kind: "merge" },
    { id: "count", kind: "count" },
    { id: "counts", kind: "store.key_value" },
    { id: "out", kind: "sink.topic" },
  ],
  edges: [
    { source: "in", target: "split" },
    { source: "split", source_port: "a", target: "all" },
    { source: "split", source_port: "b", target: "all" },
    { source: "all", target: "count" },
    { source: "counts", target: "count", target_port: "store" },
    { source: "count", target: "out" },
    { source: "count", target: "all" },
  ],
};

function figures(nodes: Record<string, { inTotal: number; outTotal: number }>): RuntimeFigures {
  const rates = { inRate: 1, outRate: 2 };
  const whole = Object.entries(nodes).map(([id, own]) => [id, { ...rates, ...own } as NodeFigures]);
  return { at: 0, stale: false, nodes: Object.fromEntries(whole) };
}

test("the total of an edge is what enters its target, or what leaves its source, if that is its own", () => {
  const now = figures({
    in: { inTotal: 0, outTotal: 5 },
    split: { inTotal: 5, outTotal: 5 },
    all: { inTotal: 8, outTotal: 7 },
    count: { inTotal: 7, outTotal: 6 },
  });
  const of = (source: string, target: string) => edgeFigures(DOCUMENT, { source, target }, now);
  expect(of("in", "split")).toEqual({ total: 5, rate: 1 });
  // The edge from the store does not carry records.
  expect(of("all", "count")).toEqual({ total: 7, rate: 1 });
  // Several edges enter the target, so the source's output counts.
  expect(of("count", "all")).toEqual({ total: 6, rate: 2 });
  // A branch into a target with several inputs has no figures of its own.
  expect(of("split", "all")).toBeNull();
  expect(of("count", "out")).toBeNull();
  expect(edgeFigures(DOCUMENT, { source: "in", target: "split" }, null)).toBeNull();
});

test("an edge that joins a store has no records", () => {
  expect(edgeWithRecords(DOCUMENT, "counts.out>count.store")).toBeNull();
  expect(edgeWithRecords(DOCUMENT, "nothing.out>count.in")).toBeNull();
  expect(edgeWithRecords(DOCUMENT, "in.out>split.in")?.target).toBe("split");
});

function record(over: Partial<EdgeRecord>): EdgeRecord {
  return {
    number: 1,
    seen: 0,
    key: "a",
    value: { n: 1 },
    timestamp: 7,
    headers: {},
    topic: "orders",
    partition: 2,
    offset: 9,
    ...over,
  };
}

test("records that a source read become inputs of a simulation, oldest first, as the simulator takes them", () => {
  const edge = { source: "in", target: "split" };
  const rows = inputsOf(DOCUMENT, edge, [
    record({ number: 4, key: null, value: null, headers: { h: "x" } }),
    record({ number: 3, value: '{"n": [1', value_cut: true }),
    record({ number: 2, topic: null, partition: null, offset: null }),
    record({ number: 1 }),
  ]);
  const { bad, lines } = linesOf(rows, sourcesOf(DOCUMENT));
  expect(bad).toEqual([]);
  expect(lines).toEqual([
    { topic: "orders", key: "a", value: { n: 1 }, timestamp: 7, partition: 2 },
    { topic: "orders", key: null, value: null, timestamp: 7, partition: 2, headers: { h: "x" } },
  ]);
  expect(inputsOf(DOCUMENT, { source: "split", target: "all" }, [record({})])).toEqual([]);
});

test("a record names the input record that caused it", () => {
  expect(placeOf(record({}))).toBe("orders-2 @ 9");
  expect(placeOf(record({ topic: null, partition: null, offset: null }))).toBeNull();
});
