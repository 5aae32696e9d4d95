import { expect, test } from "vitest";
import type { NodeFigures } from "../designer/runtime";
import { heats } from "./Heat";

const QUIET: NodeFigures = {
  inRate: 0,
  outRate: 0,
  inTotal: 0,
  outTotal: 0,
  dropped: {},
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
