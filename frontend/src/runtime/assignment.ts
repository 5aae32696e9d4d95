/** Tasks laid out as executor, thread, task; and as rows of a table. */

import type { TaskView } from "./view";

export interface ThreadRow {
  readonly executor: string;
  readonly host: string | null;
  readonly thread: string;
  /** True on the first row of its executor, which carries the executor's name. */
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

/** One row for each thread that is or was at work, so that rows do not come and go between batches. */
export function threadRows(
  tasks: readonly TaskView[],
  threads: Readonly<Record<string, readonly string[]>>,
): ThreadRow[] {
  const executors = new Set([...Object.keys(threads), ...tasks.map((task) => task.executor)]);
  const rows: ThreadRow[] = [];
  for (const executor of [...executors].sort(byName)) {
    const mine = tasks.filter((task) => task.executor === executor);
    // An executor that is gone takes its threads with it.
    if (mine.length === 0) continue;
    const names = new Set([...(threads[executor] ?? []), ...mine.map((task) => task.thread)]);
    for (const [index, thread] of [...names].sort(byName).entries()) {
      const own = mine
        .filter((task) => task.thread === thread)
        .sort((a, b) => byName(a.task, b.task));
      rows.push({
        executor,
        host: mine[0]?.host ?? null,
        thread,
        first: index === 0,
        tasks: own,
        streamTime: newest(own.map((task) => task.stream_time)),
        records: own.reduce((sum, task) => sum + task.records, 0),
      });
    }
  }
  return rows;
}

/** A task with one of the partitions that it reads; a task that reads none has one row all the same. */
export interface AssignmentRow {
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

/** Sorted by a column; what is not known stands last either way, equal rows by task. */
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
