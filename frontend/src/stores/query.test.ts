import { expect, test } from "vitest";
import type { StateStore } from "../api/types";
import { EVERYTHING, queryOf } from "./query";

const COUNTS: StateStore = {
  ...{ id: "counts", name: "counts", kind: "key_value", key: "STRING" },
  ...{ values: ["BIGINT"], windows: null, rows: 3 },
};
const HOURS: StateStore = { ...COUNTS, kind: "window", windows: { type: "tumbling", size: 1 } };
const PAST: StateStore = { ...COUNTS, kind: "versioned" };

test("without a question a page of all rows is asked for", () => {
  expect(queryOf(EVERYTHING, COUNTS, null)).toEqual({ limit: 50 });
});

test("a key keeps its blanks, and the next page follows the one before", () => {
  const question = { ...EVERYTHING, text: " a ", newest: true };
  expect(queryOf(question, COUNTS, "xyz")).toEqual({
    ...{ limit: 50, key: " a ", newest: true, after: "xyz" },
  });
  expect(queryOf({ ...question, find: "prefix" }, COUNTS, null)).toMatchObject({ prefix: " a " });
});

test("times are asked of stores with windows or versions alone, whole seconds at their end", () => {
  const times = {
    ...EVERYTHING,
    ...{ fromTime: "2026-01-31T12:00:00", toTime: "2026-01-31T12:00:01" },
    asOf: "2026-01-31T12:00:00",
  };
  const noon = new Date("2026-01-31T12:00:00").getTime();
  expect(queryOf(times, COUNTS, null)).toEqual({ limit: 50 });
  expect(queryOf(times, HOURS, null)).toEqual({
    ...{ limit: 50, from_time: noon, to_time: noon + 1_999 },
  });
  expect(queryOf(times, PAST, null)).toEqual({ limit: 50, as_of: noon + 999 });
});
