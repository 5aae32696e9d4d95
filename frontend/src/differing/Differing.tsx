import { Button, CopyButton } from "@mantine/core";
import IconArrowsDiff from "@tabler/icons-react/dist/esm/icons/IconArrowsDiff.mjs";
import IconCopy from "@tabler/icons-react/dist/esm/icons/IconCopy.mjs";
import IconPlayerPlay from "@tabler/icons-react/dist/esm/icons/IconPlayerPlay.mjs";
import IconStepInto from "@tabler/icons-react/dist/esm/icons/IconStepInto.mjs";
import { Fragment, type ReactNode, useState } from "react";
import { describeDiagnostic } from "../api/prose";
import type { DifferenceSearch, DifferingInput } from "../api/types";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { inEnvironment } from "../graph/parameters";
import { linesFor, newRow, rowOf, sourcesOf } from "../simulate/scenario";
import { useSimulation } from "../simulate/store";
import { valueText } from "../simulate/words";
import { Note } from "../ui";
import { exact } from "../ui/format";
import { t } from "../ui/i18n";
import { Time } from "../ui/Time";
import { useEditing } from "../versions/editing";
import classes from "./differing.module.css";
import { Stepping } from "./Stepping";
import { type Sides, useSearch } from "./searching";

interface DifferingProps {
  /** Names of the versions, in the headings of their outputs. */
  readonly names: readonly [string, string];
  readonly load: () => Promise<Sides>;
  /** Whose values the parameters have on the new side; the defaults by default. */
  readonly environment?: string | null;
  /** Called after the input has been opened in *Simulate*. */
  readonly onOpened: () => void;
}

/** Searches for the shortest input on which two versions give different results, and shows both results. */
export function Differing({ names, load, environment = null, onOpened }: DifferingProps) {
  const { ws, topology } = useEditing();
  const { search, start, cancel } = useSearch(ws, topology, environment);
  const busy = search.state === "running" || search.state === "starting";
  return (
    <section className={classes.search} data-testid="differing" aria-label={t("Different results")}>
      <div className={classes.bar} aria-live="polite">
        {busy ? (
          <>
            <span className={classes.progress}>
              {search.state === "starting"
                ? t("Starting the simulator…")
                : t("{n} {n, plural, one {input} other {inputs}} tried…", {
                    n: exact(search.inputs),
                  })}
            </span>
            <Button
              variant="default"
              onClick={cancel}
              disabled={search.state === "running" && search.cancelling}
            >
              {t("Cancel")}
            </Button>
            <span className={classes.quiet}>{t("at most 20 seconds")}</span>
          </>
        ) : (
          <Button
            variant="default"
            leftSection={<IconArrowsDiff size={16} stroke={1.5} />}
            onClick={() => void start(load)}
            title={t({
              id: "differing.runs_both_versions_in_simulator",
              message:
                "Runs both versions in the simulator, on at most 20,000 inputs in 20 seconds",
            })}
            data-testid="find-difference"
          >
            {t("Find an input with different results")}
          </Button>
        )}
      </div>
      {search.state === "failed" ? <Note tone="failed">{search.message}</Note> : null}
      {search.state === "done" ? (
        <Answer
          ws={ws}
          answer={search.answer}
          cancelled={search.cancelled}
          sides={search.sides}
          names={names}
          environment={environment}
          onOpened={onOpened}
        />
      ) : null}
    </section>
  );
}

interface AnswerProps extends Omit<DifferingProps, "load"> {
  readonly ws: string;
  readonly sides: Sides;
  /** Whether a person has ended the search. */
  readonly cancelled: boolean;
}

function Answer(props: { answer: DifferenceSearch } & AnswerProps) {
  const { diagnostics, result } = props.answer;
  if (result === null) {
    const [first] = diagnostics;
    if (first === undefined) return null;
    return (
      <Note tone="failed">
        {t("{version} does not compile: {problem}", {
          version: props.names[first.version === "old" ? 0 : 1],
          problem: describeDiagnostic(first).message,
        })}
      </Note>
    );
  }
  const percent = result.branches === 0 ? 0 : Math.floor((100 * result.covered) / result.branches);
  const missed = [...new Set(Object.values(result.missed).flat())];
  const only = [...result.only_old, ...result.only_new];
  return (
    <>
      {result.found === null ? (
        <div className={classes.head} data-testid="no-difference">
          <p>
            {props.cancelled ? t("The search was canceled.") : null}{" "}
            <strong>
              {t(
                {
                  id: "differing.no_difference_in_inputs",
                  message:
                    "No difference in {n} {n, plural, one {input} other {inputs}}; {percent} % of the branches covered.",
                },
                {
                  n: exact(result.inputs),
                  percent,
                },
              )}
            </strong>{" "}
            {missed.length === 0
              ? null
              : t("No record reached {nodes}: add records to Simulate that do.", {
                  nodes: missed.join(", "),
                })}
          </p>
          <CopyLine line={result.line} />
        </div>
      ) : (
        <Found {...props} found={result.found} line={result.line} />
      )}
      {only.length === 0 ? null : (
        <p className={classes.quiet}>
          {t("Only one version writes {topics}: not compared.", { topics: only.join(", ") })}
        </p>
      )}
    </>
  );
}

/** Copies the result in one line of Markdown. */
function CopyLine({ line }: { line: string }) {
  return (
    <CopyButton value={line}>
      {({ copied, copy }) => (
        <Button
          variant="subtle"
          className={classes.copy}
          leftSection={<IconCopy size={16} stroke={1.5} />}
          onClick={copy}
          title={line}
          data-testid="copy-difference"
        >
          {copied ? t("Copied") : t("Copy for a pull request")}
        </Button>
      )}
    </CopyButton>
  );
}

function Found(props: { found: DifferingInput; line: string } & AnswerProps) {
  const { found, names, sides, ws } = props;
  const [record, setRecord] = useState<number | null>(null);
  const open = () => {
    const { topology } = useEditing.getState();
    if (topology !== null) useSimulation.getState().open(topology);
    const { setRows, setView } = useSimulation.getState();
    const { document } = useDesigner.getState();
    const sources = sourcesOf(document);
    const there = inEnvironment(document, props.environment ?? null);
    setRows(
      linesFor(found.inputs, there, document).map((line) => newRow(rowOf(line, sources))),
      { label: t("Input with different results") },
    );
    setView("inputs");
    useView.getState().openBottom("simulate");
    props.onOpened();
  };
  const outputs = [
    { side: "old", name: names[0], lines: found.old, stopped: found.old_stopped },
    { side: "new", name: names[1], lines: found.new, stopped: found.new_stopped },
  ] as const;
  return (
    <div className={classes.found} data-testid="difference">
      <div className={classes.head}>
        <strong>
          {t(
            {
              id: "differing.results_differ_after_records",
              message: "The results differ after {n} {n, plural, one {record} other {records}}.",
            },
            { n: found.inputs.length },
          )}
        </strong>
        <span className={classes.actions}>
          <Button
            variant="subtle"
            leftSection={<IconStepInto size={16} stroke={1.5} />}
            onClick={() => setRecord(record === null ? firstApart(found) : null)}
            aria-expanded={record !== null}
            data-testid="step-difference"
          >
            {record === null ? t("Step through both") : t("Close the steps")}
          </Button>
          <Button
            variant="subtle"
            leftSection={<IconPlayerPlay size={16} stroke={1.5} />}
            onClick={open}
            data-testid="open-difference"
          >
            {t("Open in Simulate")}
          </Button>
          <CopyLine line={props.line} />
        </span>
      </div>
      <Lines lines={found.inputs} first={t("Topic")} current={record} />
      {record === null ? null : (
        <Stepping
          ws={ws}
          names={names}
          sides={sides}
          found={found}
          record={record}
          onRecord={setRecord}
        />
      )}
      {found.topics.map((topic) => (
        <div key={topic} className={classes.sides}>
          {outputs.map(({ side, name, lines }) => (
            <div key={side} data-testid={`difference-${side}`}>
              <h3>{t("{version} writes to {topic}", { version: name, topic })}</h3>
              <Lines
                lines={lines.filter((line) => line.topic === topic)}
                first={t("After record")}
              />
            </div>
          ))}
        </div>
      ))}
      {outputs.map(({ side, name, stopped }) =>
        stopped === null ? null : (
          <Note key={side} tone="failed">
            {t("Record {n} stops {version}.", { n: stopped, version: name })}
          </Note>
        ),
      )}
    </div>
  );
}

/** The number of the first input record after which the outputs differ, or that stops one version. */
function firstApart(found: DifferingInput): number {
  const { inputs, old_stopped: one, new_stopped: other } = found;
  const at = (lines: DifferingInput["old"], after: number) =>
    JSON.stringify(lines.filter((line) => line.after === after));
  const apart = inputs.findIndex((_, index) => {
    const number = index + 1;
    return at(found.old, number) !== at(found.new, number) || [one, other].includes(number);
  });
  return apart < 0 ? inputs.length : apart + 1;
}

/** A value whose lines break after its fields, if it needs several. */
function folding(value: unknown): ReactNode {
  return valueText(value)
    .split(/(?<=[,{])/)
    .map((part, index) => (
      <Fragment key={index}>
        {part}
        <wbr />
      </Fragment>
    ));
}

/** Input lines, numbered, or output lines with the number of the input line before them. */
function Lines(props: {
  lines: readonly Record<string, unknown>[];
  first: string;
  /** The number of the input line that is stepped through. */
  current?: number | null;
}) {
  const { lines, first } = props;
  if (lines.length === 0) return <p className={classes.quiet}>{t("Nothing")}</p>;
  const inputs = !lines.some((line) => "after" in line);
  return (
    <table className={classes.lines}>
      <thead>
        <tr>
          {inputs ? <th>{t("No.")}</th> : null}
          <th>{first}</th>
          <th>{t("Key")}</th>
          <th>{t("Value")}</th>
          <th>{t("Time")}</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          <tr key={index} data-current={(inputs && props.current === index + 1) || undefined}>
            {inputs ? <td>{index + 1}</td> : null}
            {"advance_wall_clock" in line ? (
              <td colSpan={4}>
                {t("The wall clock advances by {n} ms", {
                  n: exact(Number(line.advance_wall_clock)),
                })}
              </td>
            ) : (
              <>
                <td>{String(inputs ? line.topic : line.after)}</td>
                <td className="m-mono">{folding(line.key ?? null)}</td>
                <td className="m-mono">{folding(line.value ?? null)}</td>
                <td>
                  <Time at={Number(line.timestamp ?? 0)} />
                </td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
