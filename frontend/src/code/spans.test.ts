import { expect, test } from "vitest";
import { nodeAt, spansOf } from "./spans";

const map = [
  { node: "lines", path: "job.py", start: 10, end: 12 },
  { node: "count", path: "job.py", start: 14, end: 20 },
  { node: "counts", path: "job.py", start: 16, end: 16 },
  { node: "count", path: "other.py", start: 1, end: 2 },
];

test("a node's lines are those of the file in view", () => {
  expect(spansOf(map, "job.py", ["count"])).toEqual([map[1]]);
  expect(spansOf(map, "job.py", [])).toEqual([]);
});

test("a line belongs to the narrowest node around it", () => {
  expect(nodeAt(map, "job.py", 11)).toBe("lines");
  expect(nodeAt(map, "job.py", 16)).toBe("counts");
  expect(nodeAt(map, "job.py", 17)).toBe("count");
  expect(nodeAt(map, "job.py", 13)).toBeNull();
});
