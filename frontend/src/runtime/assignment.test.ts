import { expect, test } from "vitest";
import { aDeployment, aDocument, aReport, aTask } from "../api/samples";
import { assignmentRows, sorted, threadRows } from "./assignment";
import { type TaskView, viewOf } from "./view";

function tasks(...given: Parameters<typeof aTask>[0][]): readonly TaskView[] {
  const runtime = aReport({ tasks: given.map((each) => aTask(each)) });
  const input = { deployment: aDeployment(), document: aDocument(), subtopologies: {} };
  return viewOf({ ...input, runtime, stale: false })?.tasks ?? [];
}

test("tasks stand in the row of their thread, in the order of their numbers", () => {
  const rows = threadRows(
    tasks({ task: "0_10" }, { task: "0_2" }, { task: "1_0", thread: "stream-2" }),
    {},
  );
  expect(rows.map((row) => [row.first, row.thread, row.tasks.map((task) => task.task)])).toEqual([
    [true, "stream-1", ["0_2", "0_10"]],
    [false, "stream-2", ["1_0"]],
  ]);
});

test("a thread without a task in this batch keeps its row, an executor that is gone does not", () => {
  const rows = threadRows(tasks({}), { driver: ["stream-1", "stream-2"], "7": ["stream-1"] });
  expect(rows.map((row) => `${row.executor} ${row.thread}`)).toEqual([
    "driver stream-1",
    "driver stream-2",
  ]);
});

test("the table has a row for each partition of a task", () => {
  const partition = (n: number) => ({
    topic: "lines",
    partition: n,
    offset: n,
    end_offset: 9,
    lag: 9 - n,
  });
  const rows = assignmentRows(
    tasks(
      { topic_partitions: [partition(0), partition(1)] },
      { task: "1_0", topic_partitions: [] },
    ),
  );
  expect(rows.map((row) => [row.task.task, row.topicPartition, row.lag])).toEqual([
    ["0_0", "lines-0", 9],
    ["0_0", "lines-1", 8],
    ["1_0", null, null],
  ]);
});

test("sorting puts what is not known last, whichever way", () => {
  const rows = assignmentRows(
    tasks({ task: "0_0", rate: 2 }, { task: "0_1", rate: null }, { task: "0_2", rate: 9 }),
  );
  const order = (descending: boolean) =>
    sorted(rows, { column: "rate", descending }).map((row) => row.task.task);
  expect(order(false)).toEqual(["0_0", "0_2", "0_1"]);
  expect(order(true)).toEqual(["0_2", "0_0", "0_1"]);
});
