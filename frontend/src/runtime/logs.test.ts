import { expect, test } from "vitest";
import type { LogLine } from "../api/types";
import { asText, joined, shown } from "./logs";

const line = (second: number, over: Partial<LogLine> = {}): LogLine => ({
  at: new Date(1_767_258_000_000 + second * 1000).toISOString(),
  level: "info",
  node: null,
  record: null,
  message: `line ${second}`,
  ...over,
});

test("a line that was fetched and came live stands there once", () => {
  const all = joined([line(1), line(2)], [line(2), line(3)]);
  expect(all.map((each) => each.message)).toEqual(["line 1", "line 2", "line 3"]);
});

test("lines are chosen by level, node and words", () => {
  const lines = [
    line(1, { level: "debug" }),
    line(2, { level: "warn", node: "count" }),
    line(3, { level: "error", message: "Broker gone" }),
  ];
  const of = (filter: Partial<Parameters<typeof shown>[1]>) =>
    shown(lines, { node: null, level: "debug", search: "", ...filter }).length;
  expect(of({})).toBe(3);
  expect(of({ level: "warning" })).toBe(2);
  expect(of({ node: "count" })).toBe(1);
  expect(of({ search: "broker" })).toBe(1);
});

test("an error is found by the place of its record, in the download too", () => {
  const record = { topic: "orders", partition: 2, offset: 1204, key: "a", timestamp: null };
  const text = asText([line(0, { level: "error", message: "by zero", record })]);
  expect(text).toBe('2026-01-01T09:00:00.000Z ERROR - by zero (orders-2 · offset 1204 · key "a")');
});

test("the download has time, level, node and text on each line", () => {
  expect(asText([line(0, { node: "count", level: "warn" })])).toBe(
    "2026-01-01T09:00:00.000Z WARN count line 0",
  );
});
