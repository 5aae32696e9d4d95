import { expect, test } from "vitest";
import { type TaskView, viewOf } from "../live/view";
import { aDeployment, aDocument, aReport, aTask } from "../testing/samples";
import { assignmentRows, groupRows, sorted } from "./assignment";

function tasks(...given: Parameters<typeof aTask>[0][]): readonly TaskView[] {
  const runtime = aReport({ tasks: given.map((each) => aTask(each)) });
  const deployed = { document: aDocument(), subtopologies: {} };
  return viewOf({ deployment: aDeployment(), deployed, runtime, stale: false })?.tasks ?? [];
}

test("a task stays in its row, whichever thread ran it last", () => {
  const layout = (...threads: string[]) =>
    groupRows(
      tasks(
        { task: "0_10", thread: threads[0] },
        { task: "0_2", thread: threads[1] },
        { task: "1_0", subtopology: 1, thread: threads[2] },
        { task: "0_1", executor: "7", thread: threads[0] },
      ),
    ).map((row) => [row.executor, row.first, row.tasks.map((task) => task.task)]);
  const stable = [
    ["7", true, ["0_1"]],
    ["driver", true, ["0_2", "0_10"]],
    ["driver", false, ["1_0"]],
  ];
  expect(layout("stream-1", "stream-1", "stream-2")).toEqual(stable);
  expect(layout("stream-2", "stream-1", "stream-1")).toEqual(stable);
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
