import { expect, test } from "vitest";
import type { NodeFigures } from "../designer/runtime";
import { edgeId } from "../graph/document";
import { heats, skewedEdge } from "./Heat";

const QUIET: NodeFigures = {
  inRate: 0,
  outRate: 0,
  inTotal: 0,
  outTotal: 0,
  dropped: {},
  misses: {},
  deadLetters: 0,
  lost: 0,
  lag: null,
  tasks: [],
  streamTime: null,
  latency: null,
  storeRows: null,
  storeBytes: null,
  failure: null,
};

test("heat is in proportion to the highest, and absent where there is no figure", () => {
  const nodes = {
    a: { ...QUIET, inRate: 50, lag: 10 },
    b: { ...QUIET, outRate: 100, dropped: { late: 3, null_key: 1 } },
  };
  expect([...heats(nodes, "rate")]).toEqual([
    ["a", 0.5],
    ["b", 1],
  ]);
  expect([...heats(nodes, "lag")]).toEqual([["a", 1]]);
  expect(heats(nodes, "dropped").get("b")).toBe(1);
  expect(heats({ a: QUIET }, "rate").get("a")).toBe(0);
  expect(heats(nodes, "none").size).toBe(0);
});

test("heat is by the skew of tasks: none if they work evenly, all if one does everything", () => {
  const tasks = (...rates: (number | null)[]) => ({
    ...QUIET,
    tasks: rates.map((rate, n) => ({ task: `0_${n}`, state: "running" as const, rate })),
  });
  const nodes = {
    even: tasks(5, 5, 5, 5),
    half: tasks(50, 25, 25, 0, null),
    one: tasks(0, 9),
    alone: tasks(9),
    idle: tasks(0, 0),
  };
  const found = heats(nodes, "skew");
  expect([...found.keys()]).toEqual(["even", "half", "one"]);
  expect(found.get("even")).toBe(0);
  expect(found.get("half")).toBeCloseTo(1 / 3);
  expect(found.get("one")).toBe(1);
});

test("heat is by latency, dead letters and bytes as well", () => {
  const latency = { event: { p50: 1, p99: 50 }, arrival: { p50: 1, p99: null } };
  const nodes = {
    a: { ...QUIET, latency, deadLetters: 2, storeBytes: 10 },
    b: { ...QUIET, latency: { ...latency, event: { p50: 90, p99: 100 } }, storeBytes: 40 },
  };
  expect([...heats(nodes, "latency").values()]).toEqual([0.5, 1]);
  expect(heats(nodes, "arrival").size).toBe(0);
  expect([...heats(nodes, "dead_letters").values()]).toEqual([1, 0]);
  expect([...heats(nodes, "bytes").values()]).toEqual([0.25, 1]);
});

test("the keys are those of the edge into the node with the highest skew", () => {
  const at = (first: number, second: number): NodeFigures => ({
    ...QUIET,
    tasks: [first, second].map((rate) => ({ rate })) as unknown as NodeFigures["tasks"],
  });
  const node = (id: string, kind: string) => ({ id, kind, params: {} });
  const document = {
    format: "millrace.topology/1" as const,
    name: "t",
    nodes: [node("in", "source.stream"), node("count", "count"), node("out", "sink.topic")],
    edges: [
      { source: "in", target: "count" },
      { source: "count", target: "out" },
    ],
  };
  const into = skewedEdge(document, { in: at(5, 5), count: at(9, 1), out: at(6, 4) });
  expect(into).toBe(edgeId({ source: "in", target: "count" }));
  expect(skewedEdge(document, { in: at(9, 1), count: at(5, 5) })).toBe(into);
  expect(skewedEdge(document, { in: at(5, 5) })).toBeNull();
});
