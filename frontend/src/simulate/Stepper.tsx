import { ActionIcon, Slider, Switch, TextInput } from "@mantine/core";
import IconBack from "@tabler/icons-react/dist/esm/icons/IconChevronLeft.mjs";
import IconNext from "@tabler/icons-react/dist/esm/icons/IconChevronRight.mjs";
import IconRecordBack from "@tabler/icons-react/dist/esm/icons/IconChevronsLeft.mjs";
import IconRecordNext from "@tabler/icons-react/dist/esm/icons/IconChevronsRight.mjs";
import IconWindowCloses from "@tabler/icons-react/dist/esm/icons/IconClockStop.mjs";
import IconFirst from "@tabler/icons-react/dist/esm/icons/IconPlayerSkipBack.mjs";
import IconLast from "@tabler/icons-react/dist/esm/icons/IconPlayerSkipForward.mjs";
import IconDrop from "@tabler/icons-react/dist/esm/icons/IconZoomExclamation.mjs";
import { type ReactNode, useMemo } from "react";
import type { SimulationStep } from "../api/types";
import { codeOf, nameOfSetting } from "../designer/breakpoints";
import { findNode, labelOf, type TopologyDocument } from "../graph/document";
import { Empty, Tip } from "../ui";
import { dateTime } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Time } from "../ui/Time";
import { go, type Move, useStepping } from "./moves";
import { Cell } from "./RecordTable";
import classes from "./simulate.module.css";
import {
  childrenOf,
  endingOf,
  endOf,
  printedAt,
  recordOf,
  stopsOf,
  storesAt,
  streamTimes,
  writesOf,
} from "./steps";
import { type Shown, useSimulation } from "./store";
import { closings, rowName } from "./windows";
import { dropText, endingText, stepTitle, valueText } from "./words";

const MOVES: readonly [Move, Phrase, typeof IconBack, string?][] = [
  ["first", phrase("First step"), IconFirst],
  ["recordBack", phrase("Previous record"), IconRecordBack],
  ["back", phrase("Back"), IconBack, ","],
  ["next", phrase("Next"), IconNext, "."],
  ["recordNext", phrase("Next record"), IconRecordNext],
  ["last", phrase("Last step"), IconLast],
  ["dropNext", phrase("Next record that ended"), IconDrop],
  ["closeNext", phrase("Next window that closes"), IconWindowCloses],
];

/** The simulation step by step: the record on the canvas, stream times, stores. */
export function Stepper({ shown }: { shown: Shown | null }) {
  const step = useSimulation((state) => state.step);
  const { onlySelected, text } = useStepping();
  const stops = useMemo(() => (shown === null ? [] : stopsOf(shown.result.steps)), [shown]);
  if (shown === null || stops.length === 0) {
    return (
      <Empty title={t("Step by step")}>
        {t("Run the simulation: what the sinks write is listed here.")}
      </Empty>
    );
  }
  const position = Math.max(0, stops.indexOf(step));
  return (
    <div className={classes.stepper} data-testid="simulation-steps">
      <div className={classes.bar}>
        {MOVES.map(([move, title, Icon, keys]) => (
          <Tip key={move} text={t(title)} {...(keys === undefined ? {} : { keys })}>
            <ActionIcon variant="subtle" aria-label={t(title)} onClick={() => go(move)}>
              <Icon size={16} stroke={1.5} />
            </ActionIcon>
          </Tip>
        ))}
        <Slider
          className={classes.slider ?? ""}
          aria-label={t("Step by step")}
          min={0}
          max={stops.length - 1}
          value={position}
          label={null}
          size="sm"
          onChange={(at) => useSimulation.getState().goTo(stops[at] ?? 0)}
        />
        <span className="m-figures">
          {t("Step {n} of {m}", { n: position + 1, m: stops.length })}
        </span>
        <TextInput
          size="xs"
          ml={12}
          w={180}
          aria-label={t("Only steps whose record contains")}
          placeholder={t("Record contains …")}
          value={text}
          onChange={(event) => useStepping.setState({ text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter") go(event.shiftKey ? "back" : "next");
          }}
        />
        <Switch
          size="xs"
          ml={12}
          label={t("Only steps of the selected node")}
          checked={onlySelected}
          onChange={(event) => useStepping.setState({ onlySelected: event.currentTarget.checked })}
        />
      </div>
      <div className={classes.stepBody}>
        <Happened shown={shown} index={step} />
        <Stores shown={shown} index={step} />
      </div>
    </div>
  );
}

/** The event of a step: the record, its contents, and why it ended. */
function Happened({ shown, index }: { shown: Shown; index: number }) {
  const { document, result } = shown;
  const children = useMemo(() => childrenOf(result.steps), [result.steps]);
  const step = result.steps[index];
  if (step === undefined) return null;
  const caused = step.parent === null ? undefined : result.steps[step.parent];
  const record = recordOf(result.steps, index);
  const ending = endingOf(step, children);
  const why =
    step.event === "drop"
      ? dropText(step, caused)
      : ending === null
        ? null
        : endingText(document, step, ending);
  return (
    <section className={`${classes.happened} m-scroll`} aria-live="polite">
      <h3>{stepTitle(document, step)}</h3>
      {why === null ? null : (
        <p className={classes.why} data-testid="simulation-why">
          {why}
        </p>
      )}
      <Stop document={document} step={step} />
      <Printed shown={shown} index={index} />
      {record === null ? null : (
        <dl className={classes.record}>
          <Fact name={t("Key")}>{valueText(record.key)}</Fact>
          <Fact name={t("Value")}>{valueText(record.value)}</Fact>
          {record.old === undefined ? null : (
            <Fact name={t("before")}>{valueText(record.old)}</Fact>
          )}
          <Fact name={t("Time")}>
            <Time at={record.timestamp} />
          </Fact>
          {Object.keys(record.headers).length === 0 ? null : (
            <Fact name={t("headers")}>{valueText(record.headers)}</Fact>
          )}
        </dl>
      )}
      <Clocks shown={shown} index={index} />
    </section>
  );
}

/** The code around a breakpoint, and the values of the local variables. */
function Stop({ document, step }: { document: TopologyDocument; step: SimulationStep }) {
  if (step.event !== "stop" || step.line === undefined) return null;
  const at = step.line;
  const place = step.code ?? step.node;
  const text = codeOf(document, place)?.split("\n")[at - 1]?.trim() ?? "";
  const name = nameOfSetting(place);
  const locals = step.locals ?? [];
  return (
    <>
      {name === null ? null : <p className={`${classes.hint} m-mono`}>{`${name}:${at}`}</p>}
      <pre className={`${classes.why} ${classes.stopped} m-mono`}>{text}</pre>
      <table className={classes.locals} data-testid="simulation-locals" aria-label={t("Locals")}>
        <tbody>
          {locals.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row" className="m-mono">
                {name}
              </th>
              <td className="m-mono">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {locals.length === 0 ? <p className={classes.hint}>{t("There are no locals yet.")}</p> : null}
      {step.more_locals === true ? (
        <p className={classes.hint}>{t("Only the first {n} are listed.", { n: locals.length })}</p>
      ) : null}
    </>
  );
}

/** Lines that the node has printed for the record. */
function Printed({ index, shown }: { index: number; shown: Shown }) {
  const lines = useMemo(() => printedAt(shown.result.steps, index), [shown, index]);
  if (lines.length === 0) return null;
  return (
    <div className={classes.printed} data-testid="simulation-printed">
      <h4>{t("Printed")}</h4>
      {lines.map((line) => (
        <pre key={line.seq} className="m-mono" data-level={line.level}>
          {line.message}
        </pre>
      ))}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="m-mono">{children}</dd>
    </>
  );
}

function Clocks({ shown, index }: { shown: Shown; index: number }) {
  const times = useMemo(() => streamTimes(shown.result.steps, index), [shown, index]);
  return (
    <ul className={classes.clocks} aria-label={t("Stream time")}>
      {[...times].map(([task, at]) => (
        <li key={task}>
          <span className="m-mono">{t("Task {task}", { task })}</span>{" "}
          {t("stream time {time}", { time: dateTime(at) })}
        </li>
      ))}
    </ul>
  );
}

export function storeTitle(document: TopologyDocument, name: string): string {
  const [node = "", part] = name.split("$");
  const found = findNode(document, node);
  if (found === undefined) return name;
  return part === undefined
    ? labelOf(found)
    : t("{node}: {store}", { node: labelOf(found), store: part });
}

/** Rows of all stores after the step; those that it wrote are marked. */
function Stores({ shown, index }: { shown: Shown; index: number }) {
  const stores = useMemo(() => storesAt(shown.result.steps, index), [shown, index]);
  const writes = useMemo(() => writesOf(shown.result.steps, index), [shown, index]);
  const { closed } = useMemo(
    () => closings(shown.document, shown.result.steps, endOf(shown.result.steps, index)),
    [shown, index],
  );
  return (
    <section className={`${classes.stores} m-scroll`} data-testid="simulation-stores">
      <h3>
        {shown.result.steps[index]?.event === "stop"
          ? t("Stores before this line")
          : t("Stores after this step")}
      </h3>
      {shown.result.stores_truncated ? (
        <p className={classes.hint}>
          {t({
            id: "simulate.at_start_stores_had",
            message:
              "At the start, stores had more rows than are listed. The others appear when they change.",
          })}
        </p>
      ) : null}
      {stores.size === 0 ? (
        <p className={classes.hint}>{t("No store has been written to yet.")}</p>
      ) : null}
      {[...stores].map(([name, rows]) => (
        <table key={name} className={classes.table}>
          <caption>{storeTitle(shown.document, name)}</caption>
          <tbody>
            {rows.map((row) => (
              <tr
                key={JSON.stringify(row.key)}
                data-written={writes.get(name)?.has(JSON.stringify(row.key)) || undefined}
              >
                <Cell text={valueText(row.key)} />
                <Cell wide text={valueText(row.value)} />
                <td className="m-figures">
                  {row.timestamp === null ? null : <Time at={row.timestamp} />}
                  {closed.has(rowName(name, row.key)) ? ` · ${t("window closed")}` : ""}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </section>
  );
}
