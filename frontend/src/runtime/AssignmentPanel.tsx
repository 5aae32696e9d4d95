import { Suspense, useState } from "react";
import { useRuntime } from "../designer/runtime";
import { Loading } from "../frame/Loading";
import { exactly, known } from "../live/figures";
import { PlainEmpty } from "../live/PlainEmpty";
import { isMoving, wordOf } from "../live/states";
import { useLive } from "../live/store";
import { useNow } from "../live/useNow";
import { useRunsPlain } from "../live/useRunsPlain";
import { useShownState } from "../live/useShownState";
import type { RuntimeView } from "../live/view";
import { Chip, Empty, Segments } from "../ui";
import { count, exact, rate, span, streamClock } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { AssignmentTable } from "./AssignmentTable";
import { groupRows } from "./assignment";
import { MovesStrip } from "./MovesStrip";
import { useRunning } from "./running";
import classes from "./runtime.module.css";
import { TaskChip } from "./TaskChip";

const HistoryView = later(async () => (await import("./HistoryView")).HistoryView);

const SHAPES = ["matrix", "table", "history"] as const;
type Shape = (typeof SHAPES)[number];
const SHAPE = "millrace.assignment";

/** The executor, thread and partitions of each task, as a matrix or a table, and where tasks ran before. */
export function AssignmentPanel() {
  const view = useRunning((state) => state.view);
  const state = useShownState();
  const plain = useRunsPlain();
  const id = useLive((live) => live.deployment?.id ?? null);
  const [shape, setShape] = useState<Shape>(
    () => SHAPES.find((each) => each === localStorage.getItem(SHAPE)) ?? "matrix",
  );
  const choose = (
    <Segments<Shape>
      label={t("View")}
      value={shape}
      onChange={(next) => {
        localStorage.setItem(SHAPE, next);
        setShape(next);
      }}
      items={[
        { id: "matrix", title: t("Matrix") },
        { id: "table", title: t("Table") },
        { id: "history", title: t("History") },
      ]}
    />
  );
  if (state === null) {
    return (
      <Empty title={t("Nothing is running yet")}>
        {t({
          id: "runtime.deploy_topology_its_tasks",
          message:
            "Deploy the topology: its tasks appear here with their executor, thread and partitions.",
        })}
      </Empty>
    );
  }
  if (plain) {
    return <PlainEmpty>{t("Its queries are not divided into tasks of Kafka Streams.")}</PlainEmpty>;
  }
  if (shape === "history" && id !== null) {
    return (
      <div className="ui-panel" data-testid="assignment">
        <Suspense fallback={<Loading />}>
          <HistoryView key={id} deployment={id} before={choose} />
        </Suspense>
      </div>
    );
  }
  if (view === null || view.tasks.length === 0) {
    return (
      <div className="ui-panel">
        <div className="ui-bar">{choose}</div>
        <Empty title={isMoving(state) ? t("Not running yet") : wordOf(state)}>
          {state === "stopped" || state === "failed"
            ? t("Tasks are assigned while the topology runs.")
            : t("Tasks appear after the driver's first report.")}
        </Empty>
      </div>
    );
  }
  return (
    <div className="ui-panel" data-testid="assignment" data-stale={view.stale}>
      <div className="ui-bar">
        {choose}
        <AsOf view={view} />
        <span className="ui-space" />
        <Totals view={view} />
      </div>
      {shape === "matrix" ? <Matrix view={view} /> : <AssignmentTable tasks={view.tasks} />}
      <MovesStrip tasks={view.tasks} />
    </div>
  );
}

function AsOf({ view }: { view: RuntimeView }) {
  const now = useNow(view.stale ? 1_000 : null);
  if (!view.stale) return null;
  return (
    <Chip tone="degraded">
      {t("Last report {time} ago; the current state is unknown", {
        time: span(Math.max(0, now - view.at)),
      })}
    </Chip>
  );
}

function Totals({ view }: { view: RuntimeView }) {
  const threads = useLive((state) =>
    Object.values(state.threads).reduce((sum, names) => sum + names.length, 0),
  );
  const executors = new Set(view.tasks.map((task) => task.executor)).size;
  return (
    <span className={classes.totals}>
      {view.lost.length === 0 ? null : (
        <Chip tone="degraded" title={lostText(view.lost)}>
          {t("{n} {n, plural, one {record} other {records}} lost", {
            n: exact(view.lost.reduce((sum, each) => sum + each.records, 0)),
          })}
        </Chip>
      )}
      {view.realTime ? <Chip>{t("real time")}</Chip> : null}
      {view.batch === null ? null : (
        <Chip title={phases(view.batch.phases)}>
          {t("batch {n}", { n: view.batch.number })} · {known(view.batch.duration, span)}
        </Chip>
      )}
      <Chip>{t("{n} {n, plural, one {task} other {tasks}}", { n: view.tasks.length })}</Chip>
      <Chip>{t("{n} {n, plural, one {thread} other {threads}}", { n: threads })}</Chip>
      <Chip>{t("{n} {n, plural, one {executor} other {executors}}", { n: executors })}</Chip>
    </span>
  );
}

function lostText(lost: RuntimeView["lost"]): string {
  return lost.map((each) => `${each.topic}-${each.partition}: ${exact(each.records)}`).join("\n");
}

function phases(parts: Readonly<Record<string, number>>): string {
  return Object.entries(parts)
    .map(([name, milliseconds]) => `${name} ${span(milliseconds)}`)
    .join("\n");
}

function Matrix({ view }: { view: RuntimeView }) {
  const hovered = useRuntime((state) => state.hoveredTask);
  const jvm = useLive((live) => live.deployment?.run?.jvm.host ?? null);
  const rows = groupRows(view.tasks);
  const largest = Math.max(1_000, ...view.tasks.map((task) => task.lag ?? 0));
  return (
    <div className={`ui-scroll m-scroll`}>
      <table className={classes.matrix} data-testid="assignment-matrix">
        <thead>
          <tr>
            <th>{t("Executor")}</th>
            <th>{t("Sub-topology")}</th>
            <th className={classes.tasksColumn}>{t("Tasks")}</th>
            <th className={classes.right}>{t("Stream time")}</th>
            <th className={classes.right}>{t("Rate")}</th>
            <th className={classes.right}>{t("Records")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const rates = row.tasks.map((task) => task.rate);
            const sum = rates.includes(null)
              ? null
              : rates.reduce<number>((total, each) => total + (each ?? 0), 0);
            return (
              <tr key={`${row.executor}/${row.subtopology}`} data-first={row.first}>
                <td className={classes.executor}>
                  {row.first ? (
                    <span title={row.host ?? undefined}>
                      {executorName(row.executor)}
                      {jvm === null ? null : ` · ${jvm}`}
                    </span>
                  ) : null}
                </td>
                <td className={classes.thread}>{row.subtopology}</td>
                <td>
                  <div className={classes.chips}>
                    {row.tasks.map((task) => (
                      <TaskChip
                        key={task.task}
                        task={task}
                        largestLag={largest}
                        lit={hovered === task.task}
                      />
                    ))}
                  </div>
                </td>
                <td className={classes.figure}>{known(row.streamTime, streamClock)}</td>
                <td className={classes.figure} title={exactly(sum, t("records per second"))}>
                  {known(sum, rate)}
                </td>
                <td className={classes.figure} title={exactly(row.records)}>
                  {count(row.records)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Spark names the executors "0", "1" …, and the driver's own executor "driver". */
function executorName(id: string): string {
  return /^\d+$/.test(id) ? t("executor {n}", { n: id }) : id;
}
