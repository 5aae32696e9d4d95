import type { OutputComparison } from "../api/types";
import { Note } from "../ui";
import { exact, moment } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import change from "./change.module.css";
import classes from "./deployments.module.css";

type Topic = OutputComparison["topics"][number];
type Example = Topic["examples"][number];

/** The outputs of two versions for the same records, topic by topic. */
export function ShadowResult({ comparison }: { comparison: OutputComparison }) {
  const { state, topics } = comparison;
  if (state === "failed") return <Note tone="failed">{comparison.error}</Note>;
  if (state !== "done") return <p className={change.quiet}>{t("The comparison was canceled.")}</p>;
  const different = topics.some(
    (each) => each.differing + each.only_running + each.only_shadow + each.reordered > 0,
  );
  const versions = { n: comparison.running_version, m: comparison.shadow_version };
  return (
    <section className={change.result} data-testid="shadow-result" data-different={different}>
      <p>
        {different
          ? t("Versions {n} and {m} differ for the same input.", versions)
          : t(
              {
                id: "deployments.versions_and_wrote_same",
                message: "Versions {n} and {m} wrote the same output for the same input.",
              },
              versions,
            )}
      </p>
      <table className={`ui-table ${classes.table}`}>
        <thead>
          <tr>
            <th>{t("Topic")}</th>
            <th>{t("Equal")}</th>
            <th>{t("Differing")}</th>
            <th>{t("Only v{n}", { n: comparison.running_version })}</th>
            <th>{t("Only v{n}", { n: comparison.shadow_version })}</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((each) => (
            <tr key={each.topic} data-testid="shadow-topic">
              <td title={each.sinks.join(", ")}>{each.topic}</td>
              <td>
                {exact(each.equal)}
                {each.reordered === 0
                  ? null
                  : ` · ${t("{n} in another order", { n: exact(each.reordered) })}`}
              </td>
              <td>{exact(each.differing)}</td>
              <td>{exact(each.only_running)}</td>
              <td>{exact(each.only_shadow)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {topics.map((each) =>
        each.deleted === 0 ? null : (
          <Note key={each.topic} tone="degraded">
            {t(
              {
                id: "deployments.records_of_have_been",
                message:
                  "{n} {n, plural, one {record} other {records}} of {topic} {n, plural, one {has} other {have}} been deleted by the broker and {n, plural, one {is} other {are}} not compared.",
              },
              {
                n: exact(each.deleted),
                topic: each.topic,
              },
            )}
          </Note>
        ),
      )}
      {topics.map((each) => (
        <Examples key={each.topic} topic={each} comparison={comparison} />
      ))}
      <details className={change.quiet}>
        <summary>
          {t("Compared at {time}, for these input offsets", {
            time: moment(comparison.started_at),
          })}
        </summary>
        <Offsets comparison={comparison} />
      </details>
    </section>
  );
}

const KINDS: Readonly<Record<Example["kind"], Phrase>> = {
  differing: phrase("Differs"),
  only_running: phrase("Only in one"),
  only_shadow: phrase("Only in one"),
};

function Examples({ topic, comparison }: { topic: Topic; comparison: OutputComparison }) {
  if (topic.examples.length === 0) return null;
  return (
    <div className={`${change.examples} m-scroll`}>
      <table className={`ui-table ${classes.table}`} data-testid="shadow-examples">
        <thead>
          <tr>
            <th>{topic.topic}</th>
            <th>{t("Key")}</th>
            <th>{t("v{n}", { n: comparison.running_version })}</th>
            <th>{t("v{n}", { n: comparison.shadow_version })}</th>
          </tr>
        </thead>
        <tbody>
          {topic.examples.map((each) => (
            <tr key={`${place(each.running)} ${place(each.shadow)}`}>
              <td>{t(KINDS[each.kind])}</td>
              <td className="m-mono">{each.key ?? "null"}</td>
              <td className="m-mono">{value(each.running, each.shadow)}</td>
              <td className="m-mono">{value(each.shadow, each.running)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function place(record: Example["running"]): string {
  return record === null ? "-" : `${record.partition}-${record.offset}`;
}

/** The record's value, with its timestamp or headers if only those differ. */
function value(record: Example["running"], other: Example["running"]): string {
  if (record === null) return "–";
  const text = record.value ?? "null";
  if (other === null || record.value !== other.value) return text;
  if (record.timestamp !== other.timestamp) return `${text} · ${moment(record.timestamp)}`;
  return `${text} · ${JSON.stringify(record.headers)}`;
}

function Offsets({ comparison }: { comparison: OutputComparison }) {
  const from = comparison.from_offsets as Readonly<Record<string, Record<string, number>>>;
  const to = comparison.to_offsets as Readonly<Record<string, Record<string, number>>>;
  return (
    <table className={change.places}>
      <thead>
        <tr>
          <th>{t("Topic")}</th>
          <th>{t("Partition")}</th>
          <th>{t("Starting at")}</th>
          <th>{t("Up to")}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(to).flatMap(([topic, partitions]) =>
          Object.entries(partitions).map(([partition, end]) => (
            <tr key={`${topic} ${partition}`}>
              <td>{topic}</td>
              <td>{partition}</td>
              <td>{exact(from[topic]?.[partition] ?? 0)}</td>
              <td>{exact(end)}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}
