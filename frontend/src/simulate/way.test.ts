import { expect, test } from "vitest";
import type { SimulationStep } from "../api/types";
import { halved, matching, startsOf, wayOf, writtenBy } from "./way";

/** A step as the server has it, with what this test does not name left out. */
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
  expect(way.map(({ depth, moved, step }) => [step.node, depth, moved])).toEqual([
    ["in", 0, false],
    ["key", 1, false],
    ["count", 2, true],
    ["out", 3, false],
  ]);
  expect(way[2]?.writes).toEqual([{ store: "count", row: row("a", 1) }]);
  expect(wayOf(STEPS, 2).map(({ step }) => step.event)).toEqual(["record", "drop"]);
  expect(wayOf(STEPS, 9)).toEqual([]);
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
