import { expect, test } from "vitest";
import { withFragmentFigures } from "./fragmentFigures";
import type { NodeFigures } from "./runtime";

const task = (id: string) => ({ task: id, state: "running", rate: 1 });
const figures = (inTotal: number, outTotal: number, ...tasks: string[]) =>
  ({
    inRate: 0,
    inTotal,
    outRate: 0,
    outTotal,
    dropped: { late: 1 },
    misses: {},
    deadLetters: 0,
    failure: null,
    tasks: tasks.map(task),
  }) as unknown as NodeFigures;

test("a fragment has the tasks of all of its nodes, and the records at its ends", () => {
  const contents = {
    clean: {
      nodes: [
        { id: "clean--keep", local: "keep", kind: "filter" },
        { id: "clean--count", local: "count", kind: "count" },
      ],
      edges: [{ source: "clean--keep", target: "clean--count" }],
    },
  };
  const nodes = {
    "clean--keep": figures(9, 7, "0_0", "0_1"),
    "clean--count": figures(7, 5, "0_1", "1_0"),
  };
  const found = withFragmentFigures(nodes, contents).clean;
  expect(found?.tasks.map((each) => each.task)).toEqual(["0_0", "0_1", "1_0"]);
  expect([found?.inTotal, found?.outTotal, found?.dropped]).toEqual([9, 5, { late: 2 }]);
});
