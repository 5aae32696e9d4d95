import type { EdgeRecords } from "../api/types";
import { ago, exact } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "./runtime.module.css";

type Keys = NonNullable<EdgeRecords["keys"]>;

/** The most frequent keys of an edge and the records of each task, counted since the panel was opened. */
export function EdgeKeys({ keys }: { keys: Keys }) {
  const { records, sampled, since, skew, tasks, top } = keys;
  const ofTasks = tasks.reduce((sum, each) => sum + each.records, 0);
  return (
    <div className={`ui-scroll m-scroll`} data-testid="edge-keys">
      <p className={classes.keysNote}>
        {t(
          {
            id: "runtime.records_since_this_was",
            message:
              "{n} {n, plural, one {record} other {records}} since this was opened ({when}); the keys of {m} were read.",
          },
          {
            n: records,
            m: sampled,
            when: ago(since),
          },
        )}{" "}
        <strong data-testid="edge-skew">
          {skew === null
            ? t("At least half of the tasks had no record.")
            : t(
                {
                  id: "runtime.skew_busiest_task_has",
                  message:
                    "Skew {n}: the busiest task has {n} times the records of the median task.",
                },
                {
                  n: skew.toFixed(1),
                },
              )}
        </strong>
      </p>
      <div className={classes.keys}>
        <Bars
          title={t("Most frequent keys")}
          rows={top.map((each) => ({ name: each.key, records: each.records, of: records }))}
        />
        <Bars
          title={t("Records by task")}
          rows={tasks.map((each) => ({ name: each.task, records: each.records, of: ofTasks }))}
        />
      </div>
    </div>
  );
}

function Bars(props: {
  title: string;
  rows: readonly { name: string; records: number; of: number }[];
}) {
  return (
    <table>
      <caption>{props.title}</caption>
      <tbody>
        {props.rows.map(({ name, of, records }) => {
          const share = of === 0 ? 0 : Math.min(1, records / of);
          return (
            <tr key={name}>
              <th scope="row" className="m-mono m-cut" title={name}>
                {name}
              </th>
              <td className={classes.keyBar}>
                <span style={{ width: `${share * 100}%` }} />
              </td>
              <td className="m-figures">{exact(records)}</td>
              <td className="m-figures">{Math.round(share * 100)} %</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
