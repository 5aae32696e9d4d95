/** The assignment of tasks by executor and sub-topology, and as rows of a table. */

import type { TaskView } from "../live/view";

/** The tasks of a sub-topology on an executor. The thread that runs a task may change with every batch. */
interface GroupRow {
  readonly executor: string;
  readonly host: string | null;
  readonly subtopology: number;
  /** True for the first row of an executor, which shows the executor's name. */
  readonly first: boolean;
  readonly tasks: readonly TaskView[];
  readonly streamTime: number | null;
  readonly records: number;
}

const natural = new Intl.Collator("en", { numeric: true });

export function byName(a: string, b: string): number {
  return natural.compare(a, b);
}

function newest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null && time >= 0) as number[];
  return known.length === 0 ? null : Math.max(...known);
}

function address(task: TaskView): string {
  return `${task.executor}/${task.task}`;
}

/** Groups tasks by executor and sub-topology, ordered by their numbers so that rows do not move. */
export function groupRows(tasks: readonly TaskView[]): GroupRow[] {
  const groups = new Map<string, TaskView[]>();
  for (const task of tasks.toSorted((a, b) => byName(address(a), address(b)))) {
    const key = `${task.executor}/${task.subtopology}`;
    groups.set(key, [...(groups.get(key) ?? []), task]);
  }
  let before: string | null = null;
  return [...groups.values()].flatMap((own): GroupRow[] => {
    const [one] = own;
    if (one === undefined) return [];
    const first = one.executor !== before;
    before = one.executor;
    return [
      {
        executor: one.executor,
        host: one.host,
        subtopology: one.subtopology,
        first,
        tasks: own,
        streamTime: newest(own.map((task) => task.stream_time)),
        records: own.reduce((sum, task) => sum + task.records, 0),
      },
    ];
  });
}

/** A task and one of the partitions that it reads; a task that reads none has one row without a partition. */
interface AssignmentRow {
  readonly key: string;
  readonly task: TaskView;
  readonly topicPartition: string | null;
  readonly offset: number | null;
  readonly endOffset: number | null;
  readonly lag: number | null;
}

export function assignmentRows(tasks: readonly TaskView[]): AssignmentRow[] {
  return tasks.flatMap((task): AssignmentRow[] => {
    if (task.topic_partitions.length === 0) {
      return [
        {
          key: task.task,
          task,
          topicPartition: null,
          offset: null,
          endOffset: null,
          lag: task.lag,
        },
      ];
    }
    return task.topic_partitions.map((each) => ({
      key: `${task.task}/${each.topic}-${each.partition}`,
      task,
      topicPartition: `${each.topic}-${each.partition}`,
      offset: each.offset,
      endOffset: each.end_offset,
      lag: each.lag,
    }));
  });
}

export type Column =
  | "task"
  | "topicPartition"
  | "executor"
  | "thread"
  | "offset"
  | "lag"
  | "rate"
  | "records"
  | "stateRows"
  | "streamTime";

export interface Order {
  readonly column: Column;
  readonly descending: boolean;
}

function cell(row: AssignmentRow, column: Column): string | number | null {
  switch (column) {
    case "task":
      return row.task.task;
    case "topicPartition":
      return row.topicPartition;
    case "executor":
      return row.task.executor;
    case "thread":
      return row.task.thread;
    case "offset":
      return row.offset;
    case "lag":
      return row.lag;
    case "rate":
      return row.task.rate;
    case "records":
      return row.task.records;
    case "stateRows":
      return row.task.state_rows;
    case "streamTime":
      return row.task.stream_time;
  }
}

/** Sorts by a column. Unknown values come last in both directions, and equal rows are ordered by task. */
export function sorted(rows: readonly AssignmentRow[], order: Order): AssignmentRow[] {
  const sign = order.descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [cell(a, order.column), cell(b, order.column)];
    if (left === null || right === null) {
      if (left === right) return byName(a.key, b.key);
      return left === null ? 1 : -1;
    }
    const compared =
      typeof left === "number" && typeof right === "number"
        ? left - right
        : byName(String(left), String(right));
    return compared === 0 ? byName(a.key, b.key) : sign * compared;
  });
}
