import { expect, test } from "vitest";
import type { SimulationStep } from "../api/types";
import { halved, matching, startsOf, wayOf, writtenBy } from "./way";

/** A step from the server, with defaults for the fields that are not passed. */
function step(seq: number, after: number, node: string, more: Partial<SimulationStep> = {}) {
  return { seq, after, node, event: "record", parent: null, from: null, ...more } as SimulationStep;
}

const row = (key: string, value: unknown) => ({ key, value, timestamp: 0 });

// Two records: each goes through `key`, a repartition and `count`, whose row the second one changes.
const STEPS = [
  step(0, 1, "in", { task: "0_0" }),
  step(1, 1, "key", { task: "0_0", parent: 0, from: "in" }),
  step(2, 1, "count", { task: "1_2", from: "key" }),
  step(3, 1, "count", { event: "store", parent: 2, store: "count", row: row("a", 1) }),
  step(4, 1, "out", { task: "1_2", parent: 2, from: "count" }),
  step(5, 2, "in", { task: "0_0" }),
  step(6, 2, "key", { event: "drop", parent: 5, reason: "null_key" }),
  step(7, 3, "in", { task: "0_0" }),
  step(8, 3, "count", { event: "store", parent: 7, store: "count", row: row("a", 2) }),
];

test("the way of a record has its nodes in order, the repartition, and what was written", () => {
  const way = wayOf(STEPS, 1);
  expect(way.map(({ depth, step, tasks }) => [step.node, depth, tasks])).toEqual([
    ["in", 0, []],
    ["key", 1, []],
    ["count", 2, ["1_2"]],
    ["out", 3, []],
  ]);
  expect(way[2]?.writes).toEqual([{ store: "count", row: row("a", 1) }]);
  expect(wayOf(STEPS, 2).map(({ step }) => step.event)).toEqual(["record", "drop"]);
  expect(wayOf(STEPS, 9)).toEqual([]);
});

test("steps inside a node are one line with it, also behind a repartition and where it ends", () => {
  const steps = [
    step(0, 1, "in"),
    step(1, 1, "count", { parent: 0, from: "in" }),
    step(2, 1, "count", { parent: 1, from: "count" }),
    step(3, 1, "count", { task: "1_0", from: "count" }),
    step(4, 1, "count", { event: "store", parent: 3, store: "counts", row: row("a", 1) }),
    step(5, 1, "count", { event: "stop", parent: 3, line: 4 }),
    step(6, 1, "out", { parent: 3, from: "count" }),
    step(7, 1, "count", { event: "drop", parent: 3, reason: "late" }),
  ];
  const way = wayOf(steps, 1);
  expect(way.map(({ depth, step }) => [step.node, depth])).toEqual([
    ["in", 0],
    ["count", 1],
    ["out", 2],
  ]);
  expect(way[1]).toMatchObject({ index: 1, tasks: ["1_0"], within: [1, 2, 3, 7] });
  expect(way[1]?.drop?.reason).toBe("late");
  expect(way[1]?.writes).toHaveLength(1);
});

test("rows that it wrote say which record changed them next", () => {
  expect(writtenBy(STEPS, 1)).toEqual([{ store: "count", row: row("a", 1), changedBy: 3 }]);
  expect(writtenBy(STEPS, 3)).toEqual([{ store: "count", row: row("a", 2), changedBy: null }]);
  expect(writtenBy(STEPS, 2)).toEqual([]);
});

test("a record is found by its number, its key or a text in its value", () => {
  const lines = [
    { topic: "a", key: "Bob", value: { n: 3 } },
    { advance_wall_clock: 5 },
    { topic: "a", key: "eve", value: "for bob" },
  ];
  expect(matching(lines, "")).toEqual([1, 3]);
  expect(matching(lines, "bob")).toEqual([1, 3]);
  expect(matching(lines, "3")).toEqual([3, 1]);
  expect(matching(lines, "none")).toEqual([]);
});

test("what a simulation begins with is known by partition, and less of it is the newer half", () => {
  const lines = [4, 5, 6, 7].map((offset) => ({ topic: "a", partition: 0, offset }));
  const at = { topic: "a", earliest: 1, latest: 9, first: 4, last: 7 };
  expect(
    startsOf(lines, [
      { ...at, partition: 0 },
      { ...at, partition: 1 },
    ]),
  ).toEqual([
    { topic: "a", partition: 0, first: 4, earlier: 3 },
    { topic: "a", partition: 1, first: null, earlier: 8 },
  ]);
  expect(halved(lines, 4)).toEqual({ lines: lines.slice(2), input: 2 });
});
