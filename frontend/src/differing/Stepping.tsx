import { ActionIcon } from "@mantine/core";
import IconBack from "@tabler/icons-react/dist/esm/icons/IconChevronLeft.mjs";
import IconNext from "@tabler/icons-react/dist/esm/icons/IconChevronRight.mjs";
import { useQuery } from "@tanstack/react-query";
import type { DifferingInput } from "../api/types";
import { Waiting } from "../frame/Waiting";
import { simulated } from "../simulate/polling";
import { type Shown, shownOf } from "../simulate/store";
import { OneStep } from "../simulate/WayView";
import { wayOf } from "../simulate/way";
import { Tip } from "../ui";
import { t } from "../ui/i18n";
import classes from "./differing.module.css";
import type { Sides } from "./searching";
import { apartFrom, texts } from "./steps";

interface SteppingProps {
  readonly ws: string;
  readonly names: readonly [string, string];
  readonly sides: Sides;
  readonly found: DifferingInput;
  /** The number of the input record whose steps are shown. */
  readonly record: number;
  readonly onRecord: (record: number) => void;
}

/** What one input record does in both versions, node by node, with the steps marked that only one of them has. */
export function Stepping(props: SteppingProps) {
  const { ws, names, sides, found, record, onRecord } = props;
  const runs = useQuery({
    queryKey: ["differing steps", ws, sides, found],
    queryFn: async ({ signal }) => {
      const run = async (document: Sides["old"]) =>
        shownOf(document, found.inputs, await simulated(ws, document, found.inputs, { signal }));
      return { old: await run(sides.old), new: await run(sides.new) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const count = found.inputs.length;
  const go = (to: number) => onRecord(Math.max(1, Math.min(count, to)));
  const ways = runs.data === undefined ? null : [runs.data.old, runs.data.new];
  return (
    <section className={classes.stepping} aria-label={t("Steps of both versions")}>
      <div className={classes.bar}>
        <Tip text={t("Previous record")}>
          <ActionIcon
            variant="subtle"
            aria-label={t("Previous record")}
            disabled={record === 1}
            onClick={() => go(record - 1)}
          >
            <IconBack size={16} stroke={1.5} />
          </ActionIcon>
        </Tip>
        <span className="m-figures">{t("Record {n} of {total}", { n: record, total: count })}</span>
        <Tip text={t("Next record")}>
          <ActionIcon
            variant="subtle"
            aria-label={t("Next record")}
            disabled={record === count}
            onClick={() => go(record + 1)}
          >
            <IconNext size={16} stroke={1.5} />
          </ActionIcon>
        </Tip>
      </div>
      <Waiting query={runs} />
      {ways === null ? null : (
        <div className={classes.sides}>
          {ways.map((shown, index) => (
            <div key={names[index]} data-testid={`steps-${index === 0 ? "old" : "new"}`}>
              <h3>{names[index]}</h3>
              <Steps shown={shown} other={ways[1 - index] ?? null} record={record} />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function Steps(props: { shown: Shown | null; other: Shown | null; record: number }) {
  const { shown, other, record } = props;
  const way = shown === null ? [] : wayOf(shown.result.steps, record);
  if (shown === null || way.length === 0)
    return <p className={classes.quiet}>{t("This record reaches no node.")}</p>;
  const apart = apartFrom(texts(shown, record), other === null ? [] : texts(other, record));
  return (
    <ol className={classes.steps}>
      {way.map((each, index) => (
        <li
          key={each.index}
          style={{ paddingLeft: 8 + each.depth * 12 }}
          data-apart={apart.has(index) || undefined}
          title={apart.has(index) ? t("Only in this version") : undefined}
        >
          <OneStep shown={shown} each={each} />
        </li>
      ))}
    </ol>
  );
}
