import { Button, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { describeCause } from "../api/prose";
import { findNode, labelOf, paramsOf, type TopologyDocument } from "../graph/document";
import { Chip, Cut, Empty, Note } from "../ui";
import { briefTime, exact } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { follow } from "./follow";
import { Cell } from "./RecordTable";
import { storeTitle } from "./Stepper";
import { rowOf, sourcesOf } from "./scenario";
import classes from "./simulate.module.css";
import { childrenOf, endingOf } from "./steps";
import { type Followed, type Shown, useSimulation } from "./store";
import { matching, type PartitionStart, type WayStep, wayOf, writtenBy } from "./way";
import { dropText, endingText, valueText } from "./words";

/** The maximum number of input records to list. */
const MOST_LISTED = 200;
/** The maximum number of records before a followed record that can be requested. */
const MOST_BEFORE = 1_500;

/** The way of one input record: nodes, repartitions, stores, and where it ended. */
export function WayView(props: { shown: Shown | null; topology: number; ws: string }) {
  const { shown, topology, ws } = props;
  const { followed, input } = useSimulation();
  if (shown === null) {
    return (
      <Empty title={t("Where is my record?")}>
        {t("Run the simulation, then choose a record to see its path.")}
      </Empty>
    );
  }
  return (
    <div className={classes.way} data-testid="simulation-way">
      {followed === null ? null : <Begins followed={followed} topology={topology} ws={ws} />}
      <div className={classes.stepBody}>
        <Inputs shown={shown} input={input} />
        <Way shown={shown} input={input} />
      </div>
    </div>
  );
}

function startText({ earlier, first, partition, topic }: PartitionStart): string {
  const place = `${topic}-${partition}`;
  if (first === null) return t("{place}: no record", { place });
  return earlier > 0
    ? t(
        {
          id: "simulate.from_offset_earlier_offsets",
          message:
            "{place} from offset {first}; {n} earlier {n, plural, one {offset} other {offsets}} left out",
        },
        {
          place,
          first: exact(first),
          n: earlier,
        },
      )
    : t("{place} from its first record", { place });
}

const EMPTY: Readonly<Record<string, Phrase>> = {
  asked: phrase("This was requested."),
  changed: phrase("Fields are masked, or records are left out."),
  loop: phrase("The topology reads a topic that it writes."),
  no_state: phrase("The deployment has no checkpoint that can be read."),
  too_old: phrase("The checkpoint does not go back as far as this record."),
  too_many: phrase({
    id: "simulate.record_batch_has_too",
    message: "The record's batch has too many records to simulate all of them.",
  }),
};

/** Why stores start empty: the text of a known code, or the server's message. */
function emptyText(empty: string): string {
  const known = EMPTY[empty];
  return known === undefined ? empty : t(known);
}

/** Explains what was simulated and which earlier records are missing. */
function Begins(props: { followed: Followed; topology: number; ws: string }) {
  const { followed, topology, ws } = props;
  const { asked, begins, deployment, empty, place, skipped, starts, version } = followed;
  const whole = begins !== null || starts.every((each) => each.earlier === 0);
  const before = asked.before ?? 500;
  const again = (more: Partial<typeof asked>) =>
    void follow(ws, topology, deployment, { ...asked, ...place, key: null, contains: "", ...more });
  const use = () => {
    const { setRows, setView, shown } = useSimulation.getState();
    if (shown === null) return;
    const sources = sourcesOf(shown.document);
    setRows(
      shown.lines.map((line) => rowOf({ ...line }, sources)),
      { order: "listed", label: t("Records of the deployment") },
    );
    setView("inputs");
  };
  return (
    <Note tone={whole ? "neutral" : "degraded"}>
      <div className={classes.begins} data-testid="follow-begins">
        <span>
          {t(
            {
              id: "simulate.record_in_version_which",
              message: "Record {place} in version {version}, which is deployed, as a simulation.",
            },
            {
              place: `${place.topic}-${place.partition} @ ${exact(place.offset)}`,
              version,
            },
          )}{" "}
          {begins !== null
            ? t(
                {
                  id: "simulate.it_begins_with_stores",
                  message:
                    "It begins with the stores of the deployment after batch {batch} ({time}), and has all records of the batches that follow, in their order.",
                },
                { batch: exact(begins.batch), time: briefTime(begins.at ?? 0) },
              )
            : whole
              ? t({
                  id: "simulate.it_begins_with_first",
                  message:
                    "It begins with the first records of the topics, so stores are complete.",
                })
              : t({
                  id: "simulate.stores_start_empty_what",
                  message:
                    "Stores start empty: what records before these wrote is missing, so results may differ from those of the deployment.",
                })}{" "}
          {begins !== null || whole || empty === null ? "" : `${emptyText(empty)} `}
          {starts.map(startText).join(" · ")}
          {skipped === 0
            ? ""
            : ` · ${t({ id: "simulate.records_left_out_that_could", message: "{n} {n, plural, one {record} other {records}} left out that could not be masked" }, { n: skipped })}`}
        </span>
        <span className={classes.actions}>
          {(whole && begins === null) || before >= MOST_BEFORE ? null : (
            <Button
              variant="subtle"
              onClick={() => again({ before: Math.min(MOST_BEFORE, before * 2) })}
            >
              {t("More records before it")}
            </Button>
          )}
          {asked.same_key === true || begins !== null ? null : (
            <Button variant="subtle" onClick={() => again({ same_key: true })}>
              {t("Only its key")}
            </Button>
          )}
          <Button variant="subtle" onClick={use} data-testid="follow-use">
            {t("Use as inputs")}
          </Button>
        </span>
      </div>
    </Note>
  );
}

/** The input records, from which one can be chosen. */
function Inputs({ input, shown }: { input: number; shown: Shown }) {
  const [text, setText] = useState("");
  const found = useMemo(() => matching(shown.lines, text), [shown, text]);
  const at = found.indexOf(input);
  // The chosen record is always among those that are listed.
  const from = Math.max(0, Math.min(at - MOST_LISTED / 2, found.length - MOST_LISTED));
  const choose = (number: number) => {
    useSimulation.setState({ input: number });
    const first = wayOf(shown.result.steps, number)[0];
    if (first !== undefined) useSimulation.getState().goTo(first.index);
  };
  return (
    <section className={`${classes.happened} m-scroll`}>
      <TextInput
        aria-label={t("Number, key or text of a record")}
        placeholder={t("Number, key or text of a record")}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-testid="way-search"
      />
      <ul className={classes.chooser} data-testid="way-inputs">
        {found.slice(from, from + MOST_LISTED).map((number) => {
          const line = shown.lines[number - 1];
          return (
            <li key={number}>
              <button
                type="button"
                aria-current={number === input}
                onClick={() => choose(number)}
                ref={number === input ? (row) => row?.scrollIntoView({ block: "nearest" }) : null}
              >
                <span className="m-figures">{number}</span>
                <Cut>{String(line?.topic ?? "")}</Cut>
                <Cut mono>{lineText(line?.key, line?.key_bytes)}</Cut>
                <Cut mono>{lineText(line?.value, line?.value_bytes)}</Cut>
              </button>
            </li>
          );
        })}
      </ul>
      {found.length === 0 ? <p className={classes.hint}>{t("No record matches.")}</p> : null}
    </section>
  );
}

function lineText(value: unknown, bytes: unknown): string {
  return typeof bytes === "string" ? t("bytes") : valueText(value);
}

function Way({ input, shown }: { input: number; shown: Shown }) {
  const { error, steps } = shown.result;
  const stopped = error !== null && error.after === input ? error : null;
  const way = useMemo(() => wayOf(steps, input), [steps, input]);
  const written = useMemo(() => writtenBy(steps, input), [steps, input]);
  const step = useSimulation((state) => state.step);
  const { document } = shown;
  if (way.length === 0 && stopped !== null) {
    return (
      <section className={classes.stores} data-testid="way-steps">
        <Stopped document={document} error={stopped} />
      </section>
    );
  }
  if (way.length === 0) {
    return (
      <section className={classes.stores}>
        <p className={classes.hint}>
          {shown.result.truncated
            ? t("Its steps are not listed: too many steps come before it.")
            : error !== null && error.after < input
              ? t("No node received this record: the run stopped at record {n}.", {
                  n: error.after,
                })
              : t("No node received this record: no source reads its topic.")}
        </p>
      </section>
    );
  }
  return (
    <section className={`${classes.stores} m-scroll`} data-testid="way-steps">
      <ol className={classes.waySteps}>
        {way.map((each) => (
          <li key={each.index} style={{ paddingLeft: each.depth * 16 }}>
            <button
              type="button"
              aria-current={each.within.includes(step)}
              onClick={() => useSimulation.getState().goTo(each.index)}
            >
              <OneStep shown={shown} each={each} />
            </button>
          </li>
        ))}
      </ol>
      {stopped === null ? null : <Stopped document={document} error={stopped} />}
      {written.length === 0 ? null : (
        <>
          <h3>{t("Rows that it wrote")}</h3>
          <table className={classes.table} data-testid="way-rows">
            <tbody>
              {written.map(({ changedBy, row, store }) => (
                <tr key={`${store} ${JSON.stringify(row.key)}`}>
                  <td>{storeTitle(document, store)}</td>
                  <Cell text={valueText(row.key)} />
                  <Cell wide text={valueText(row.value)} />
                  <td>
                    {changedBy === null ? (
                      t("unchanged since")
                    ) : (
                      <button
                        type="button"
                        className={classes.link}
                        onClick={() => useSimulation.setState({ input: changedBy })}
                      >
                        {t("changed by record {n}", { n: changedBy })}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

/** What happens to the record at a node, in one line. */
export function OneStep({ each, shown }: { each: WayStep; shown: Shown }) {
  const { document, result } = shown;
  const children = useMemo(() => childrenOf(result.steps), [result.steps]);
  const { drop, last, step, tasks, writes } = each;
  const node = findNode(document, step.node);
  const caused = drop === null || drop.parent === null ? undefined : result.steps[drop.parent];
  const ending = drop === null ? endingOf(last, children) : null;
  return (
    <>
      <strong>{node === undefined ? step.node : labelOf(node)}</strong>
      {tasks.map((task) => (
        <Chip key={task} tone="accent">
          {t("repartition, task {task}", { task })}
        </Chip>
      ))}
      {step.record === undefined ? null : (
        <Cut mono>{`${valueText(step.record.key)} → ${valueText(step.record.value)}`}</Cut>
      )}
      {drop === null ? null : <em>{dropText(drop, caused)}</em>}
      {ending === null ? null : <em>{endingText(document, last, ending)}</em>}
      {step.event === "punctuate" ? <em>{t("A schedule is due")}</em> : null}
      {writes.length === 0 ? null : (
        <Chip>{t("{n} {n, plural, one {row} other {rows}} written", { n: writes.length })}</Chip>
      )}
      {sinkText(document, step.node)}
    </>
  );
}

/** Where the record stopped the run, and why: as it stopped the deployment. */
function Stopped(props: {
  document: TopologyDocument;
  error: NonNullable<Shown["result"]["error"]>;
}) {
  const { document, error } = props;
  const node = typeof error.node === "string" ? findNode(document, error.node) : undefined;
  const why = describeCause({ ...error, code: error.code ?? "" });
  return (
    <Note tone="failed">
      <span data-testid="way-stopped">
        {node === undefined
          ? t("It stopped the run: {why}", { why })
          : t("It stopped the run at {node}: {why}", { node: labelOf(node), why })}
      </span>
    </Note>
  );
}

function sinkText(document: TopologyDocument, id: string) {
  const node = findNode(document, id);
  if (node?.kind !== "sink.topic") return null;
  const { topic } = paramsOf(node) as { topic?: unknown };
  return typeof topic === "string" ? (
    <Chip tone="running">{t(phrase("written to {topic}"), { topic })}</Chip>
  ) : null;
}
