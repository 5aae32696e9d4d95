import { Button, Loader, Progress, Switch } from "@mantine/core";
import IconArrowLeft from "@tabler/icons-react/dist/esm/icons/IconArrowNarrowLeft.mjs";
import IconArrowRight from "@tabler/icons-react/dist/esm/icons/IconArrowNarrowRight.mjs";
import IconEqual from "@tabler/icons-react/dist/esm/icons/IconEqual.mjs";
import IconEqualNot from "@tabler/icons-react/dist/esm/icons/IconEqualNot.mjs";
import { useMemo, useState } from "react";
import { describeDifference } from "../api/prose";
import type {
  Cut,
  PlainComparison,
  PlainOutput,
  PlainRow,
  PlainSimulation,
  PlainTopic,
} from "../api/types";
import { canvas } from "../designer/canvasApi";
import { useDesigner } from "../designer/store";
import { findNode, labelOf } from "../graph/document";
import { DiagnosticGroups } from "../problems/ProblemsPanel";
import { Empty, Note, Segments, Tip } from "../ui";
import { dateTime, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { type CodeInUse, codesInUse, type Group, groupOf, totals } from "./plain";
import classes from "./plain.module.css";
import { runAndShow, useSimulation } from "./store";
import { valueText } from "./words";

/** The maximum number of rows to render per topic. */
const MOST_ROWS = 500;

const GROUPS: Readonly<Record<Group, Phrase>> = {
  equal: phrase("{n} equal"),
  time: phrase("{n} equal except for the time"),
  different: phrase("{n} different"),
  kafka_streams: phrase("{n} in Kafka Streams only"),
  spark: phrase("{n} in plain Spark only"),
};

const ASPECTS: Readonly<Record<PlainRow["differs"][number], Phrase>> = {
  value: phrase("another value"),
  headers: phrase("other headers"),
  timestamp: phrase("another time"),
  order: phrase("another order"),
  input: phrase("after another input"),
  missing: phrase("not written by plain Spark"),
  extra: phrase("not written by Kafka Streams"),
};

/** Compares plain Spark with Kafka Streams on the same records: the differences, record by record, and their causes. */
export function PlainView({ ws }: { ws: string }) {
  const { comparing, phase, rows, shown } = useSimulation();
  if (comparing && phase !== "idle") return <Running />;
  const plain = shown?.plain ?? null;
  if (plain === null)
    return (
      <div className={`${classes.empty} m-scroll`}>
        <Empty
          title={t("What would plain Spark give?")}
          action={
            <span className={classes.begin}>
              <Button disabled={rows.length === 0} onClick={() => void runAndShow(ws)}>
                {t("Run in plain Spark")}
              </Button>
              <CutChoice />
            </span>
          }
        >
          {t({
            id: "simulate.same_records_run_through",
            message:
              "The same records run through the topology as ordinary Structured Streaming. You see both results side by side, and why they differ. This starts Spark queries and takes a few seconds.",
          })}
        </Empty>
      </div>
    );
  return (
    <>
      {shown?.former === true ? <Former ws={ws} /> : null}
      {plain.comparison === null ? (
        <Refused plain={plain} />
      ) : (
        <Compared plain={plain} comparison={plain.comparison} />
      )}
    </>
  );
}

/** A note that the comparison is from an earlier run. */
function Former({ ws }: { ws: string }) {
  return (
    <Note tone="degraded">
      <span className={classes.former} data-testid="plain-former">
        {t({
          id: "simulate.this_comparison_is_from_earlier",
          message:
            "This comparison is from an earlier run. Kafka Streams has run again since then.",
        })}
        <Button variant="subtle" onClick={() => void runAndShow(ws)}>
          {t("Compare again")}
        </Button>
      </span>
    </Note>
  );
}

function CutChoice() {
  const { cut, setCut } = useSimulation();
  return (
    <span className={classes.cut}>
      <span>{t("Micro-batches")}</span>
      <Segments<Cut>
        label={t("Micro-batches")}
        value={cut}
        onChange={setCut}
        items={[
          {
            id: "each",
            title: t("One for each record"),
            hint: t("As a job that keeps up with records that arrive one by one"),
          },
          {
            id: "all",
            title: t("As few as possible"),
            hint: t({
              id: "simulate.as_job_that_reads",
              message: "As a job that reads all records at once, which is also faster",
            }),
          },
        ]}
      />
    </span>
  );
}

function Running() {
  const progress = useSimulation((state) => state.progress);
  // The records run through the exact dialect first, then through plain Spark.
  const exact = progress === null || progress.edges !== undefined;
  return (
    <div className={classes.running} role="status" data-testid="plain-running">
      <Loader size={16} />
      <span>
        {exact
          ? t("Starting the queries of plain Spark…")
          : t(
              {
                id: "simulate.plain_spark_of_records",
                message:
                  "Plain Spark: {done} of {lines} {lines, plural, one {record} other {records}}",
              },
              {
                done: progress.done,
                lines: progress.lines,
              },
            )}
      </span>
      <Progress
        value={exact ? 0 : (100 * progress.done) / Math.max(1, progress.lines)}
        aria-label={t("Progress")}
      />
      <p>
        {t({
          id: "simulate.each_query_runs_spark",
          message: "Each query runs a Spark job for each micro-batch, which takes a few seconds.",
        })}
      </p>
    </div>
  );
}

function Refused({ plain }: { plain: PlainSimulation }) {
  return (
    <div className={`${classes.refused} m-scroll`} data-testid="plain-refused">
      <Note tone="degraded">
        {t({
          id: "simulate.plain_spark_cannot_express",
          message:
            "Plain Spark cannot express this topology. The nodes below have no counterpart in Structured Streaming; the exact dialect runs them.",
        })}
      </Note>
      <DiagnosticGroups
        diagnostics={plain.diagnostics.filter((each) => each.severity === "error")}
      />
    </div>
  );
}

/** A one-sentence summary of the comparison. */
function verdictText(comparison: PlainComparison): string {
  const { different, equal, kafka_streams: missing, spark: extra, time } = totals(comparison);
  const all = different + equal + missing + extra + time;
  if (comparison.verdict === "wrong")
    return t({
      id: "simulate.some_differences_were_not",
      message: "Some differences were not predicted: this is a bug in Millrace.",
    });
  if (different + missing + extra === 0)
    return time === 0
      ? t("Plain Spark gives the same results as Kafka Streams.")
      : t({
          id: "simulate.plain_spark_gives_same",
          message: "Plain Spark gives the same records as Kafka Streams; only their time differs.",
        });
  return t(
    {
      id: "simulate.of_records_are_same",
      message: "{n} of {all} records are the same in plain Spark. Each difference was predicted.",
    },
    {
      n: equal + time,
      all,
    },
  );
}

function Compared(props: { plain: PlainSimulation; comparison: PlainComparison }) {
  const { comparison, plain } = props;
  const codes = useMemo(() => codesInUse(plain), [plain]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const { dropped, stopped, unexplained, verdict } = comparison;
  const choose = (code: CodeInUse, node: string | undefined) => {
    setChosen(code.code);
    if (node === undefined) return;
    useDesigner.getState().select({ nodes: [node] });
    canvas()?.reveal(node);
  };
  return (
    <div className={classes.view} data-testid="plain-comparison" data-verdict={verdict}>
      <div className={classes.head}>
        <strong data-testid="plain-verdict">{verdictText(comparison)}</strong>
        <span className={`${classes.muted} m-figures`}>
          {t("{time} in plain Spark", { time: span(comparison.seconds * 1_000) })}
        </span>
        <span className="ui-space" />
        <Switch
          size="xs"
          label={t("Differences only")}
          checked={onlyDifferent}
          onChange={(event) => setOnlyDifferent(event.currentTarget.checked)}
        />
        <CutChoice />
      </div>
      <div className={classes.body}>
        <aside className={`${classes.codes} m-scroll`} aria-label={t("Why the results differ")}>
          <ol>
            {codes.map((code) => (
              <Code key={code.code} code={code} chosen={chosen === code.code} onChoose={choose} />
            ))}
          </ol>
        </aside>
        <div className={`${classes.topics} m-scroll`}>
          {stopped.spark === null ? null : (
            <Note tone="degraded">
              {t("Plain Spark stopped at record {n}: {why}", {
                n: stopped.spark.after,
                why: stopped.spark.message,
              })}
            </Note>
          )}
          {verdict !== "wrong" ? null : (
            <Note tone="failed">
              {unexplained.map((each) => (
                <div key={each.message} className="m-mono">
                  {describeDifference(each)}
                </div>
              ))}
            </Note>
          )}
          {comparison.topics.map((topic) => (
            <Topic
              key={topic.topic}
              topic={topic}
              codes={codes}
              chosen={chosen}
              onlyDifferent={onlyDifferent}
              onChoose={choose}
            />
          ))}
          {dropped.kafka_streams === dropped.spark ? null : (
            <p className={classes.dropped}>
              {t("Dropped records: Kafka Streams counts {n}, plain Spark {m}.", {
                n: dropped.kafka_streams,
                m: dropped.spark,
              })}{" "}
              <Marks found={dropped.codes} codes={codes} onChoose={choose} />
            </p>
          )}
        </div>
      </div>
    </div>
  );
}

type Choose = (code: CodeInUse, node: string | undefined) => void;

/** A predicted difference: its description, its nodes, and the number of records that it explains. */
function Code(props: { code: CodeInUse; chosen: boolean; onChoose: Choose }) {
  const { chosen, code, onChoose } = props;
  const document = useDesigner((state) => state.document);
  const used = code.records > 0 || code.dropped;
  return (
    <li data-code={code.code} data-chosen={chosen || undefined} data-used={used || undefined}>
      <button type="button" onClick={() => onChoose(code, code.nodes[0])}>
        <span className={classes.number}>{code.number}</span>
        <span className={classes.sentence}>
          {code.messages.map((message) => (
            <span key={message}>{message}</span>
          ))}
          {code.hint === null ? null : <span className={classes.muted}>{code.hint}</span>}
          <span className={classes.muted}>
            <code>{code.code}</code>
            {" · "}
            {code.records > 0
              ? t("{n} {n, plural, one {record} other {records}}", { n: code.records })
              : code.dropped
                ? t("the number of dropped records")
                : t("no effect on these records")}
          </span>
        </span>
      </button>
      <span className={classes.nodes}>
        {code.nodes.map((id) => {
          const node = findNode(document, id);
          return (
            <button type="button" key={id} onClick={() => onChoose(code, id)}>
              {node === undefined ? id : labelOf(node)}
            </button>
          );
        })}
      </span>
    </li>
  );
}

/** The numbers of differences, like footnotes. */
function Marks(props: { found: readonly string[]; codes: readonly CodeInUse[]; onChoose: Choose }) {
  return props.codes
    .filter((each) => props.found.includes(each.code))
    .map((each) => (
      <Tip key={each.code} text={each.messages.join(" ")}>
        <button
          type="button"
          className={classes.number}
          aria-label={each.code}
          onClick={() => props.onChoose(each, each.nodes[0])}
        >
          {each.number}
        </button>
      </Tip>
    ));
}

function Topic(props: {
  topic: PlainTopic;
  codes: readonly CodeInUse[];
  chosen: string | null;
  onlyDifferent: boolean;
  onChoose: Choose;
}) {
  const { chosen, codes, onChoose, onlyDifferent, topic } = props;
  const groups = (Object.keys(GROUPS) as Group[]).filter((group) => topic.counts[group] > 0);
  const listed = topic.rows.filter((row) => {
    const group = groupOf(row);
    return !onlyDifferent || (group !== "equal" && group !== "time");
  });
  const caused = topic.rows.some((row) => (row.kafka_streams ?? row.spark)?.after !== undefined);
  return (
    <section className={classes.topic} data-topic={topic.topic}>
      <header>
        <h3 className="m-mono">{topic.topic}</h3>
        <span className={`${classes.counts} m-figures`}>
          {groups.length === 0
            ? t("no records on either side")
            : groups.map((group) => (
                <span key={group} data-group={group}>
                  {t(GROUPS[group], { n: topic.counts[group] })}
                </span>
              ))}
        </span>
        <span className={classes.bar} aria-hidden="true">
          {groups.map((group) => (
            <span key={group} data-group={group} style={{ flexGrow: topic.counts[group] }} />
          ))}
        </span>
      </header>
      {listed.length === 0 ? null : (
        <table className={classes.table}>
          <thead>
            <tr>
              {caused ? <th className={classes.input}>{t("Input")}</th> : null}
              <th className={classes.key}>{t("Key")}</th>
              <th>{t("Kafka Streams")}</th>
              <th className={classes.time}>{t("Time")}</th>
              <th className={classes.mark} aria-label={t("How they compare")} />
              <th>{t("Plain Spark")}</th>
              <th className={classes.why}>{t("Why")}</th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, MOST_ROWS).map((row, index) => (
              <Row
                key={index}
                row={row}
                caused={caused}
                codes={codes}
                marked={chosen !== null && row.codes.includes(chosen)}
                onChoose={onChoose}
              />
            ))}
          </tbody>
        </table>
      )}
      {listed.length <= MOST_ROWS ? null : (
        <p className={classes.muted}>{t("The first {n} are shown.", { n: MOST_ROWS })}</p>
      )}
    </section>
  );
}

function Row(props: {
  row: PlainRow;
  caused: boolean;
  codes: readonly CodeInUse[];
  marked: boolean;
  onChoose: Choose;
}) {
  const { caused, codes, marked, onChoose, row } = props;
  const { kafka_streams: exact, spark } = row;
  const key = valueText((exact ?? spark)?.key);
  const group = groupOf(row);
  // Timestamps differ in nearly every record, and their column already shows it.
  const differs = row.differs.filter((each) => each !== "timestamp" || row.differs.length === 1);
  const words = differs.map((each) => t(ASPECTS[each])).join(", ");
  return (
    <tr
      data-group={row.explained ? group : "unexplained"}
      data-marked={marked || undefined}
      data-testid="plain-row"
    >
      {caused ? <td className={`${classes.input} m-figures`}>{inputs(exact, spark)}</td> : null}
      <td className={`${classes.cell} m-mono`} title={key}>
        {key}
      </td>
      <Value record={exact} differs={row.differs.includes("value")} />
      <td className={`${classes.time} m-figures`}>
        {exact === null ? null : dateTime(exact.timestamp)}
      </td>
      <td className={classes.mark}>
        <Sign group={group} label={words === "" ? t("equal") : words} />
      </td>
      <Value record={spark} differs={row.differs.includes("value")} />
      <td className={classes.why}>
        {row.explained ? null : <em>{t("Not predicted")}</em>}
        <Marks found={row.codes} codes={codes} onChoose={onChoose} />
        {group === "different" ? <span title={words}>{words}</span> : null}
      </td>
    </tr>
  );
}

/** The number of the input that caused a record, or both numbers if the sides differ. */
function inputs(exact: PlainOutput | null, spark: PlainOutput | null): string {
  const found = [exact?.after, spark?.after].filter((each) => each !== undefined);
  return [...new Set(found)].join(" → ");
}

function Value({ differs, record }: { record: PlainOutput | null; differs: boolean }) {
  if (record === null) return <td className={classes.none}>{t("not written")}</td>;
  const text = valueText(record.value);
  const headers = record.headers === undefined ? "" : `\n${JSON.stringify(record.headers)}`;
  return (
    <td
      className={`${classes.cell} m-mono`}
      title={`${text}${headers}`}
      data-differs={differs || undefined}
    >
      {text}
    </td>
  );
}

const SIGNS = {
  equal: IconEqual,
  time: IconEqual,
  different: IconEqualNot,
  kafka_streams: IconArrowLeft,
  spark: IconArrowRight,
} as const;

function Sign({ group, label }: { group: Group; label: string }) {
  const Shape = SIGNS[group];
  return (
    <Tip text={label}>
      <Shape size={16} stroke={1.5} role="img" aria-label={label} />
    </Tip>
  );
}
