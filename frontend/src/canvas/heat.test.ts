import { expect, test } from "vitest";
import type { NodeFigures } from "../designer/runtime";
import { edgeId } from "../graph/document";
import { skewedEdge } from "./Heat";
import { endsOf, heats } from "./heatScale";

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

test("the heat of rates is in proportion to the highest, and its legend says so", () => {
  const nodes = { a: { ...QUIET, inRate: 50 }, b: { ...QUIET, outRate: 100 } };
  expect([...heats(nodes, "rate")]).toEqual([
    ["a", 0.5],
    ["b", 1],
  ]);
  expect(endsOf(nodes, "rate")).toEqual(["0 /s", "100 /s"]);
  expect(heats({ a: QUIET }, "rate").get("a")).toBe(0);
  expect(heats(nodes, "none").size).toBe(0);
});

test("a small lag is pale, and one of a minute is strong, whatever the others have", () => {
  const lag = (lag: number, outRate: number) =>
    heats({ a: { ...QUIET, lag, outRate }, b: { ...QUIET, lag: 0 } }, "lag").get("a") ?? -1;
  expect(lag(2, 10)).toBe(0);
  expect(lag(2, 0)).toBeLessThan(0.2);
  expect(lag(5_000, 5_000)).toBe(0);
  expect(lag(600, 60)).toBeCloseTo(0.56, 1);
  expect(lag(6_000, 10)).toBe(1);
  expect(heats({ a: QUIET }, "lag").size).toBe(0);
  expect(endsOf({}, "lag")).toEqual(["≤ 1 s", "≥ 1 min"]);
});

test("heat of drops and dead letters is by their share of the records", () => {
  const one = (part: number) => ({ ...QUIET, inTotal: 10_000, dropped: { late: part } });
  const nodes = { none: one(0), one: one(1), some: one(100), many: one(3_000) };
  const found = heats(nodes, "dropped");
  expect([...found.values()].map((each) => Math.round(each * 100))).toEqual([0, 0, 67, 100]);
  expect(heats({ a: { ...QUIET, inTotal: 10, deadLetters: 5 } }, "dead_letters").get("a")).toBe(1);
  expect(endsOf(nodes, "dropped")).toEqual(["≤ 0.01 %", "≥ 10 %"]);
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

test("heat of latency has fixed limits, and that of state is compared with the largest", () => {
  const at = (p99: number, storeBytes: number) => ({
    ...QUIET,
    storeBytes,
    latency: { event: { p50: 1, p99 }, arrival: { p50: 1, p99: null } },
  });
  const nodes = { a: at(50, 10), b: at(1_000, 40), c: at(60_000, 40) };
  expect([...heats(nodes, "latency").values()]).toEqual([0, 0.5, 1]);
  expect(heats(nodes, "arrival").size).toBe(0);
  expect([...heats(nodes, "bytes").values()]).toEqual([0.25, 1, 1]);
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
