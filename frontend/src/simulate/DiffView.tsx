import { Button } from "@mantine/core";
import { useMemo, useState } from "react";
import type { TopologyTest } from "../api/types";
import { notify } from "../frame/notify";
import { Chip } from "../ui";
import { briefTime, exact } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import {
  type Actual,
  type Diff,
  diffOf,
  type Entry,
  type Kind,
  type Pair,
  type Part,
} from "./diff";
import classes from "./diff.module.css";
import { valueText } from "./words";

/** The number of differences that are shown at first, and with each click more. */
const PAGE = 50;

const KINDS: Readonly<Record<Kind, Phrase>> = {
  missing: phrase("missing"),
  extra: phrase("extra"),
  different: phrase("different"),
  moved: phrase("in another place"),
};
const SIGNS: Readonly<Record<Kind, string>> = {
  missing: "−",
  extra: "+",
  different: "≠",
  moved: "↕",
};

/** A key; a window's times are dates. */
function keyText(key: unknown): string {
  const { key: inner, window } = (key ?? {}) as { key?: unknown; window?: Partial<Window> };
  if (typeof window?.start !== "number") return valueText(key);
  const end = typeof window.end === "number" ? briefTime(window.end) : "…";
  return `${valueText(inner)} [${briefTime(window.start)} – ${end}]`;
}

interface Window {
  readonly start: number;
  readonly end: number;
}

/** A value of a field; times are dates. */
function fieldText(path: string, value: unknown): string {
  if (value === undefined) return t("nothing");
  const time = path === "timestamp" || /\.window\.(start|end)$/.test(path);
  return time && typeof value === "number" ? briefTime(value) : valueText(value);
}

function whenText({ timestamp }: Entry): string {
  return typeof timestamp === "number" ? briefTime(timestamp) : "";
}

function partTitle({ name, of }: Part): string {
  return of === "topic" ? t("Topic {topic}", { topic: name }) : t("Store {store}", { store: name });
}

/** The diff as text: one line for each record, and below it one for each field that differs. */
export function diffText({ dropped, parts }: Diff): string {
  const lines = parts.flatMap((part) => [
    partTitle(part),
    ...part.pairs.flatMap(({ actual, expected, fields, kind }) => {
      const shown = expected ?? actual;
      if (shown === null) return [];
      const value = kind === "different" ? "" : ` ${valueText(shown.value)}`;
      const head = `${SIGNS[kind]} ${keyText(shown.key)} ${whenText(shown)}`.trimEnd();
      return [
        `${head}${value}`,
        ...fields.map(
          ({ path, ...sides }) =>
            `    ${path}: ${fieldText(path, sides.expected)} → ${fieldText(path, sides.actual)}`,
        ),
      ];
    }),
  ]);
  const drops =
    dropped === null
      ? []
      : [`${t("Dropped records")}: ${exact(dropped.expected)} → ${exact(dropped.actual)}`];
  return [...lines, ...drops].join("\n");
}

/** What differs from a test: records that are missing, extra or different, paired by key and time. */
export function DiffView(props: { expected: TopologyTest["expected"]; actual: Actual }) {
  const { actual, expected } = props;
  const diff = useMemo(() => diffOf(expected, actual), [expected, actual]);
  if (diff.parts.length === 0 && diff.dropped === null) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(diffText(diff));
    notify(t("Copied as text."));
  };
  return (
    <div className={classes.diff} data-testid="test-diff">
      <div className={classes.head}>
        <Legend diff={diff} />
        <Button variant="subtle" size="compact-sm" onClick={() => void copy()}>
          {t("Copy as text")}
        </Button>
      </div>
      {actual.output_count > actual.outputs.length ? (
        <p>
          {t("Only the first {n} outputs are compared here.", { n: exact(actual.outputs.length) })}
        </p>
      ) : null}
      {diff.parts.map((part) => (
        <PartView key={`${part.of} ${part.name}`} part={part} />
      ))}
      {diff.dropped === null ? null : (
        <p>
          {t("Dropped records")}: <del>{exact(diff.dropped.expected)}</del>{" "}
          <ins>{exact(diff.dropped.actual)}</ins>
        </p>
      )}
    </div>
  );
}

/** How many records of each kind there are. */
function Legend({ diff }: { diff: Diff }) {
  const pairs = diff.parts.flatMap((part) => part.pairs);
  const kinds = (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const n = pairs.filter((pair) => pair.kind === kind).length;
    return n === 0 ? [] : [{ kind, n }];
  });
  return (
    <span className={classes.legend}>
      {kinds.map(({ kind, n }) => (
        <Chip key={kind}>{`${SIGNS[kind]} ${exact(n)} ${t(KINDS[kind])}`}</Chip>
      ))}
    </span>
  );
}

function PartView({ part }: { part: Part }) {
  const [shown, setShown] = useState(PAGE);
  const left = part.pairs.length - shown;
  return (
    <table className={classes.table}>
      <caption>
        {partTitle(part)}
        {part.equal === 0
          ? ""
          : ` · ${t({ id: "simulate.equal_records_are_not", message: "{n} equal {n, plural, one {record is} other {records are}} not listed" }, { n: exact(part.equal) })}`}
      </caption>
      <thead>
        <tr>
          <th />
          <th>{t("Key")}</th>
          <th>{t("Time")}</th>
          <th>{t("Expected")}</th>
          <th>{t("Actual")}</th>
        </tr>
      </thead>
      <tbody>
        {part.pairs.slice(0, shown).map((pair, index) => (
          <PairRows key={index} pair={pair} />
        ))}
      </tbody>
      {left <= 0 ? null : (
        <tfoot>
          <tr>
            <td colSpan={5}>
              <Button variant="subtle" size="compact-sm" onClick={() => setShown(shown + PAGE)}>
                {t("{n} more of {left}", { n: exact(Math.min(PAGE, left)), left: exact(left) })}
              </Button>
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function PairRows({ pair }: { pair: Pair }) {
  const { actual, expected, fields, kind } = pair;
  const shown = expected ?? actual;
  if (shown === null) return null;
  return (
    <tr data-kind={kind}>
      <td title={t(KINDS[kind])}>{SIGNS[kind]}</td>
      <td className="m-mono">{keyText(shown.key)}</td>
      <td className="m-figures">{whenText(shown)}</td>
      {kind === "different" ? (
        <td colSpan={2}>
          <dl className={`${classes.fields} m-mono`}>
            {fields.map(({ path, ...sides }) => (
              <div key={path}>
                <dt>{path}</dt>
                <dd>
                  <del>{fieldText(path, sides.expected)}</del>
                </dd>
                <dd>
                  <ins>{fieldText(path, sides.actual)}</ins>
                </dd>
              </div>
            ))}
          </dl>
        </td>
      ) : (
        <>
          <td className="m-mono">
            {expected === null ? null : kind === "missing" ? (
              <del>{valueText(expected.value)}</del>
            ) : (
              valueText(expected.value)
            )}
          </td>
          <td className="m-mono">
            {actual === null ? null : kind === "extra" ? (
              <ins>{valueText(actual.value)}</ins>
            ) : (
              valueText(actual.value)
            )}
          </td>
        </>
      )}
    </tr>
  );
}
