import { expect, test } from "vitest";
import type { Placement } from "../api/types";
import { barOf, lanesOf, REASONS } from "./history";

function placement(some: Partial<Placement>): Placement {
  return {
    id: 1,
    run: "1-1",
    task: "0_0",
    executor: "driver",
    host: "",
    thread: "a",
    from_executor: "",
    from_thread: "",
    reason: "start",
    since: "1970-01-01T00:00:10Z",
    until: null,
    ...some,
  };
}

test("a row for each executor, thread and task, in the order of their numbers", () => {
  const lanes = lanesOf([
    placement({ id: 5, executor: "10" }),
    placement({ id: 4, executor: "2", task: "0_10" }),
    placement({ id: 3, executor: "2", task: "0_9" }),
    placement({ id: 2, executor: "2", thread: "b" }),
    placement({ id: 1, executor: "10" }),
  ]);
  expect(
    lanes.map(({ place, task, first, placements }) => [place, task, first, placements.length]),
  ).toEqual([
    ["2 · a", "0_9", true, 1],
    ["2 · a", "0_10", false, 1],
    ["2 · b", "0_0", true, 1],
    ["10 · a", "0_0", true, 2],
  ]);
});

test("a bar reaches from the move to the next one, within the range", () => {
  expect(barOf(placement({}), 0, 20_000)).toEqual({ left: 50, width: 50 });
  expect(barOf(placement({ until: "1970-01-01T00:00:15Z" }), 0, 20_000)).toEqual({
    left: 50,
    width: 25,
  });
  expect(barOf(placement({}), 15_000, 25_000)).toEqual({ left: 0, width: 100 });
  expect(barOf(placement({ until: "1970-01-01T00:00:10Z" }), 0, 20_000).width).toBe(0.4);
  expect(Object.keys(REASONS)).toHaveLength(6);
});
