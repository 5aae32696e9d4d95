import { HoverCard } from "@mantine/core";
import { TASK_STATES, useRuntime } from "../designer/runtime";
import { exactly, known } from "../live/figures";
import type { TaskView } from "../live/view";
import { StateDot } from "../ui";
import { ago, count, exact, rate, streamClock } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "./runtime.module.css";

function partitionsText(task: TaskView): string {
  return task.topic_partitions.map((each) => `${each.topic}-${each.partition}`).join(" ");
}

/** A task with its partitions, rate and lag. Hovering highlights its nodes and shows a card with details. */
export function TaskChip(props: { task: TaskView; largestLag: number; lit: boolean }) {
  const { task } = props;
  const setHovered = useRuntime((state) => state.setHoveredTask);
  const share = task.lag === null ? 0 : Math.min(1, task.lag / props.largestLag);
  return (
    <HoverCard openDelay={250} closeDelay={60} position="top" shadow="float" width={320}>
      <HoverCard.Target>
        <button
          type="button"
          className={classes.chip}
          data-lit={props.lit}
          data-testid={`task-${task.task}`}
          data-executor={task.executor}
          data-thread={task.thread}
          onMouseEnter={() => setHovered(task.task)}
          onMouseLeave={() => setHovered(null)}
          onFocus={() => setHovered(task.task)}
          onBlur={() => setHovered(null)}
        >
          <StateDot state={task.state} label={t(TASK_STATES[task.state])} />
          <span className={classes.taskId}>{task.task}</span>
          <span className={classes.partitions}>{partitionsText(task)}</span>
          <span className={classes.chipRate}>{known(task.rate, rate)}</span>
          <span className={classes.lagBar} data-state={task.state} aria-hidden>
            <span style={{ width: `${Math.round(share * 100)}%` }} />
          </span>
        </button>
      </HoverCard.Target>
      <HoverCard.Dropdown className={classes.taskCard}>
        <TaskCard task={task} />
      </HoverCard.Dropdown>
    </HoverCard>
  );
}

function TaskCard({ task }: { task: TaskView }) {
  return (
    <>
      <div className={classes.taskCardHead}>
        <StateDot state={task.state} />
        <strong>{t("Task {task}", { task: task.task })}</strong>
        <span>
          {t("sub-topology {n}", { n: task.subtopology })} ·{" "}
          {t("partition {n}", { n: task.partition })}
        </span>
      </div>
      {task.topic_partitions.map((each) => (
        <div key={`${each.topic}-${each.partition}`} className={classes.taskCardTopic}>
          <span className="m-mono">
            {each.topic}-{each.partition}
          </span>
          <span>
            {t("offset {n}", { n: known(each.offset, exact) })}
            {each.end_offset === null ? null : ` / ${exact(each.end_offset)}`}
            {" · "}
            {t("lag {n}", { n: known(each.lag, exact) })}
          </span>
        </div>
      ))}
      <dl className={classes.facts}>
        <dt>{t("Runs on")}</dt>
        <dd>
          {task.executor}
          {task.host === null ? null : ` · ${task.host}`}
        </dd>
        <dt>{t("Last thread")}</dt>
        <dd>
          {task.thread} ·{" "}
          {t("changed {n} {n, plural, one {time} other {times}}", {
            n: exact(task.thread_changes),
          })}
        </dd>
        <dt>{t("Records")}</dt>
        <dd title={exactly(task.records)}>
          {count(task.records)} · {known(task.rate, rate)}
        </dd>
        <dt>{t("Stream time")}</dt>
        <dd>{known(task.stream_time, streamClock)}</dd>
        <dt>{t("State")}</dt>
        <dd>
          {known(task.state_rows, (rows) =>
            t("{n} {n, plural, one {row} other {rows}}", { n: exact(rows) }),
          )}
        </dd>
        <dt>{t("Last active")}</dt>
        <dd>{known(task.last_active, (at) => ago(at))}</dd>
      </dl>
    </>
  );
}
