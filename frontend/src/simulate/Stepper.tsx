import { ActionIcon, Slider, Switch } from "@mantine/core";
import IconBack from "@tabler/icons-react/dist/esm/icons/IconChevronLeft.mjs";
import IconNext from "@tabler/icons-react/dist/esm/icons/IconChevronRight.mjs";
import IconRecordBack from "@tabler/icons-react/dist/esm/icons/IconChevronsLeft.mjs";
import IconRecordNext from "@tabler/icons-react/dist/esm/icons/IconChevronsRight.mjs";
import IconFirst from "@tabler/icons-react/dist/esm/icons/IconPlayerSkipBack.mjs";
import IconLast from "@tabler/icons-react/dist/esm/icons/IconPlayerSkipForward.mjs";
import IconDrop from "@tabler/icons-react/dist/esm/icons/IconZoomExclamation.mjs";
import { type ReactNode, useMemo, useState } from "react";
import type { SimulationStep } from "../api/types";
import { findNode, labelOf, type TopologyDocument } from "../graph/document";
import { Empty, Tip } from "../ui";
import { go, type Move } from "./moves";
import classes from "./simulate.module.css";
import { childrenOf, endingOf, recordOf, stopsOf, storesAt, streamTimes, writesOf } from "./steps";
import { type Shown, useSimulation } from "./store";
import { t } from "./texts";
import { dropText, endingText, timeText, valueText } from "./words";

const MOVES: readonly [Move, typeof IconBack, string?][] = [
  ["first", IconFirst],
  ["recordBack", IconRecordBack],
  ["back", IconBack, ","],
  ["next", IconNext, "."],
  ["recordNext", IconRecordNext],
  ["last", IconLast],
  ["dropNext", IconDrop],
];

/** The simulation step by step: the record on the canvas, the clocks, the stores. */
export function Stepper({ shown }: { shown: Shown | null }) {
  const step = useSimulation((state) => state.step);
  const [only, setOnly] = useState(false);
  const stops = useMemo(() => (shown === null ? [] : stopsOf(shown.result.steps)), [shown]);
  if (shown === null || stops.length === 0) {
    return <Empty title={t("steps")}>{t("noResult")}</Empty>;
  }
  const position = Math.max(0, stops.indexOf(step));
  return (
    <div className={classes.stepper} data-testid="simulation-steps">
      <div className={classes.bar}>
        {MOVES.map(([move, Icon, keys]) => (
          <Tip key={move} text={t(move)} {...(keys === undefined ? {} : { keys })}>
            <ActionIcon variant="subtle" aria-label={t(move)} onClick={() => go(move, only)}>
              <Icon size={16} stroke={1.5} />
            </ActionIcon>
          </Tip>
        ))}
        <Slider
          className={classes.slider ?? ""}
          aria-label={t("steps")}
          min={0}
          max={stops.length - 1}
          value={position}
          label={null}
          size="sm"
          onChange={(at) => useSimulation.getState().goTo(stops[at] ?? 0)}
        />
        <span className="m-figures">{t("step", { n: position + 1, m: stops.length })}</span>
        <Switch
          size="xs"
          label={t("atNode")}
          checked={only}
          onChange={(event) => setOnly(event.currentTarget.checked)}
        />
      </div>
      <div className={classes.stepBody}>
        <Happened shown={shown} index={step} />
        <Stores shown={shown} index={step} />
      </div>
    </div>
  );
}

function titleOf(document: TopologyDocument, step: SimulationStep): string {
  const node = findNode(document, step.node);
  const name = node === undefined ? step.node : labelOf(node);
  if (step.event === "punctuate") return t("due", { node: name });
  return t(step.event === "drop" ? "ends" : "enters", { n: step.after, node: name });
}

/** What happens at the step: where the record is, what is in it, why it ends. */
function Happened({ shown, index }: { shown: Shown; index: number }) {
  const { document, result } = shown;
  const children = useMemo(() => childrenOf(result.steps), [result.steps]);
  const step = result.steps[index];
  if (step === undefined) return null;
  const caused = step.parent === null ? undefined : result.steps[step.parent];
  const record = recordOf(result.steps, index);
  const ending = endingOf(document, step, children);
  const why =
    step.event === "drop"
      ? dropText(step, caused)
      : ending === null
        ? null
        : endingText(ending, findNode(document, step.node)?.kind ?? "");
  return (
    <section className={`${classes.happened} m-scroll`} aria-live="polite">
      <h3>{titleOf(document, step)}</h3>
      {why === null ? null : (
        <p className={classes.why} data-testid="simulation-why">
          {why}
        </p>
      )}
      {record === null ? null : (
        <dl className={classes.record}>
          <Fact name={t("key")}>{valueText(record.key)}</Fact>
          <Fact name={t("value")}>{valueText(record.value)}</Fact>
          {record.old === undefined ? null : (
            <Fact name={t("oldValue")}>{valueText(record.old)}</Fact>
          )}
          <Fact name={t("time")}>{timeText(record.timestamp)}</Fact>
          {Object.keys(record.headers).length === 0 ? null : (
            <Fact name={t("headersTitle")}>{valueText(record.headers)}</Fact>
          )}
        </dl>
      )}
      <Clocks shown={shown} index={index} />
    </section>
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
    <ul className={classes.clocks} aria-label={t("tasks")}>
      {[...times].map(([task, at]) => (
        <li key={task}>
          <span className="m-mono">{t("task", { task })}</span>{" "}
          {t("streamTime", { time: timeText(at) })}
        </li>
      ))}
    </ul>
  );
}

function storeTitle(document: TopologyDocument, name: string): string {
  const [node = "", part] = name.split("$");
  const found = findNode(document, node);
  if (found === undefined) return name;
  return part === undefined ? labelOf(found) : t("writes", { node: labelOf(found), store: part });
}

/** Rows of all stores after the step; those that it wrote are marked. */
function Stores({ shown, index }: { shown: Shown; index: number }) {
  const stores = useMemo(() => storesAt(shown.result.steps, index), [shown, index]);
  const writes = useMemo(() => writesOf(shown.result.steps, index), [shown, index]);
  return (
    <section className={`${classes.stores} m-scroll`} data-testid="simulation-stores">
      <h3>{t("stores")}</h3>
      {stores.size === 0 ? <p className={classes.hint}>{t("noStore")}</p> : null}
      {[...stores].map(([name, rows]) => (
        <table key={name} className={classes.table}>
          <caption>{storeTitle(shown.document, name)}</caption>
          <tbody>
            {rows.map((row) => (
              <tr
                key={JSON.stringify(row.key)}
                data-written={writes.get(name)?.has(JSON.stringify(row.key)) || undefined}
              >
                <td className={`${classes.cell} m-mono`}>{valueText(row.key)}</td>
                <td className={`${classes.cell} m-mono`}>{valueText(row.value)}</td>
                <td className="m-figures">
                  {row.timestamp === null ? "" : timeText(row.timestamp)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </section>
  );
}
