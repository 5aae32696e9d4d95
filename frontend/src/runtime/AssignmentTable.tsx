import { useState } from "react";
import { TASK_STATES, useRuntime } from "../designer/runtime";
import { exactly, known } from "../live/figures";
import type { TaskView } from "../live/view";
import { StateDot } from "../ui";
import { count, exact, rate, streamClock } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { assignmentRows, type Column, type Order, sorted } from "./assignment";
import classes from "./runtime.module.css";

const COLUMNS: readonly { id: Column; title: Phrase; right?: boolean }[] = [
  { id: "task", title: phrase("Task") },
  { id: "topicPartition", title: phrase("Topic-partition") },
  { id: "executor", title: phrase("Executor") },
  { id: "thread", title: phrase("Last thread") },
  { id: "offset", title: phrase("Offset"), right: true },
  { id: "lag", title: phrase("Lag"), right: true },
  { id: "rate", title: phrase("Rate"), right: true },
  { id: "records", title: phrase("Records"), right: true },
  { id: "stateRows", title: phrase("State rows"), right: true },
  { id: "streamTime", title: phrase("Stream time"), right: true },
];

/** One row per task and partition, which can be sorted by any column. */
export function AssignmentTable({ tasks }: { tasks: readonly TaskView[] }) {
  const [order, setOrder] = useState<Order>({ column: "task", descending: false });
  const setHovered = useRuntime((state) => state.setHoveredTask);
  const hovered = useRuntime((state) => state.hoveredTask);
  const sort = (column: Column) =>
    setOrder({ column, descending: order.column === column && !order.descending });
  return (
    <div className={`ui-scroll m-scroll`}>
      <table className={classes.matrix} data-testid="assignment-table">
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column.id}
                className={column.right === true ? classes.right : undefined}
                aria-sort={
                  order.column !== column.id
                    ? undefined
                    : order.descending
                      ? "descending"
                      : "ascending"
                }
              >
                <button type="button" className="ui-sorter" onClick={() => sort(column.id)}>
                  {t(column.title)}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(assignmentRows(tasks), order).map((row) => (
            <tr
              key={row.key}
              data-lit={hovered === row.task.task}
              onMouseEnter={() => setHovered(row.task.task)}
              onMouseLeave={() => setHovered(null)}
            >
              <td>
                <span className={classes.taskCell}>
                  <StateDot state={row.task.state} label={t(TASK_STATES[row.task.state])} />
                  <span className={classes.taskId}>{row.task.task}</span>
                </span>
              </td>
              <td className={classes.partitions}>{row.topicPartition ?? ""}</td>
              <td title={row.task.host ?? undefined}>{row.task.executor}</td>
              <td className={classes.thread} title={row.task.thread}>
                {known(row.task.state === "asleep" ? null : row.task.thread, (thread) => thread)}
              </td>
              <td
                className={classes.figure}
                title={
                  row.endOffset === null ? undefined : t("end {n}", { n: exact(row.endOffset) })
                }
              >
                {known(row.offset, exact)}
              </td>
              <td className={classes.figure} title={exactly(row.lag)}>
                {known(row.lag, count)}
              </td>
              <td className={classes.figure} title={exactly(row.task.rate)}>
                {known(row.task.rate, rate)}
              </td>
              <td className={classes.figure} title={exactly(row.task.records)}>
                {count(row.task.records)}
              </td>
              <td className={classes.figure} title={exactly(row.task.state_rows)}>
                {known(row.task.state_rows, count)}
              </td>
              <td className={classes.figure}>{known(row.task.stream_time, streamClock)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
