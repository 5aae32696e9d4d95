import { expect, test } from "vitest";
import { inOrder, moveTo } from "./ordering";
import type { Line } from "./scenario";

const line = (topic: string, timestamp: number, partition?: number): Line => ({
  ...{ topic, key: null, value: null, timestamp },
  ...(partition === undefined ? {} : { partition }),
});

test("a table's earlier row is taken before a stream's record that is listed first", () => {
  const lines = [line("orders", 60), line("items", 10), line("orders", 70), line("items", 65)];
  expect(inOrder(lines, "time", [])).toEqual([1, 0, 3, 2]);
  expect(inOrder(lines, "listed", [])).toEqual([0, 1, 2, 3]);
});

test("within a partition offsets count, so a late record waits behind its predecessor", () => {
  const lines = [line("a", 50), line("a", 5), line("b", 20), line("a", 1, 1)];
  expect(inOrder(lines, "time", [])).toEqual([3, 2, 0, 1]);
});

test("no record passes an advance of the wall clock", () => {
  const lines = [line("a", 50), { advance_wall_clock: 10 }, line("b", 20), line("a", 10)];
  expect(inOrder(lines, "time", [])).toEqual([0, 1, 3, 2]);
});

test("the time of a record is that of the field from which its source reads it", () => {
  const source = { topic: "a", timeField: "at" } as never;
  const lines = [
    { topic: "a", value: { at: 90 }, timestamp: 0 },
    { topic: "b", value: null, timestamp: 5 },
  ];
  expect(inOrder(lines, "time", [source])).toEqual([1, 0]);
});

test("a row moves to the place of another, up and down", () => {
  expect(moveTo(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
  expect(moveTo(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
});
