import { useLive } from "../live/store";
import { useNow } from "../live/useNow";
import type { TaskView } from "../live/view";
import { ago, exact, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "./runtime.module.css";

const SPAN = 15 * 60_000;

/** Tasks that moved to another executor, and restarts, during the last 15 minutes. */
export function MovesStrip({ tasks }: { tasks: readonly TaskView[] }) {
  const moves = useLive((state) => state.moves);
  const now = useNow(5_000);
  const recent = moves.filter((move) => now - move.at < SPAN);
  const last = moves.at(-1);
  const changes = tasks.reduce((sum, task) => sum + task.thread_changes, 0);
  return (
    <div className={classes.moves}>
      <span className={classes.movesTitle}>{t("Moves")}</span>
      <span className={classes.movesLine}>
        {recent.map((move) => (
          <span
            key={`${move.at}-${move.task}`}
            className={classes.move}
            data-kind={move.kind}
            style={{ left: `${100 - ((now - move.at) / SPAN) * 100}%` }}
            title={`${moment(move.at)}: ${text(move)}`}
          />
        ))}
      </span>
      <span className={classes.movesText}>
        {last === undefined
          ? t("no task to another executor since this page was opened")
          : `${ago(last.at, now)} · ${text(last)}`}
      </span>
      <span
        className={classes.movesText}
        title={t({
          id: "runtime.in_each_batch_spark",
          message: "In each batch, Spark runs a task on any free thread of its executor.",
        })}
        data-testid="thread-changes"
      >
        {t("{n} {n, plural, one {change} other {changes}} of thread", { n: exact(changes) })}
      </span>
    </div>
  );
}

function text(move: ReturnType<typeof useLive.getState>["moves"][number]): string {
  if (move.kind === "restart") return t("the driver restarted with all its tasks");
  return t("task {task} from {from} to {to}", { task: move.task, from: move.from, to: move.to });
}
