import { Suspense, useId, useMemo } from "react";
import { trendOf } from "../designer/backlog";
import { isStoreNode } from "../designer/fragmentFigures";
import { missText, reasonText } from "../designer/reasons";
import { type HistoryPoint, type Percentiles, useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { exactly, known, UNKNOWN } from "../live/figures";
import { bytes, count, exact, rate, span, streamClock } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import classes from "./runtime.module.css";

const StoreLinks = later(async () => (await import("../stores/StoreLinks")).StoreLinks);

const NO_POINTS: readonly HistoryPoint[] = [];

/** Live details below the selected node's form: its figures, and links to its stores. */
export function NodeRuntime({ node }: { node: string }) {
  return (
    <>
      <Figures node={node} />
      <Suspense>
        <StoreLinks node={node} />
      </Suspense>
    </>
  );
}

/** Rate over time, drops, stream time, state. */
function Figures({ node }: { node: string }) {
  const figures = useRuntime((state) => state.figures);
  const points = useRuntime((state) => state.history[node] ?? NO_POINTS);
  // No records pass through a store, so its rows are shown.
  const store = useDesigner((state) => isStoreNode(state.document, state.result?.fragments, node));
  const own = figures?.nodes[node];
  if (figures === null || own === undefined) return null;
  const { stale } = figures;
  const live = (value: number | null) => (stale ? null : value);
  const drops = Object.entries(own.dropped).filter(([, n]) => n > 0);
  const misses = Object.entries(own.misses).filter(([, n]) => n > 0);
  return (
    <section className={classes.nodeRuntime} aria-label={t("Running")} data-testid="node-runtime">
      <div className={classes.nodeHead}>
        <strong>{stale ? t("Unknown") : t("Running")}</strong>
        {store ? null : <span>{covered(points)}</span>}
      </div>
      {store ? null : <Spark points={points} />}
      <dl className={classes.nodeFacts}>
        {own.inTotal > 0 || own.inRate > 0 ? (
          <>
            <dt>{t("Records in")}</dt>
            <dd title={exactly(own.inTotal, t("records in all"))}>
              {known(live(own.inRate), rate)}
            </dd>
          </>
        ) : null}
        {store ? null : (
          <>
            <dt>{t("Records out")}</dt>
            <dd title={exactly(own.outTotal, t("records in all"))}>
              {known(live(own.outRate), rate)}
            </dd>
          </>
        )}
        {own.lag === null ? null : (
          <>
            <dt>{t("Lag")}</dt>
            <dd title={exactly(own.lag)}>{known(live(own.lag), count)}</dd>
            {stale ? null : <Heading points={points} />}
          </>
        )}
        {own.lost === 0 ? null : (
          <>
            <dt>{t("Lost before they were read")}</dt>
            <dd data-tone="degraded" title={exactly(own.lost)}>
              {count(own.lost)}
            </dd>
          </>
        )}
        {drops.map(([reason, n]) => (
          <FragmentOf key={reason} title={t("Dropped, {reason}", { reason: reasonText(reason) })}>
            <dd data-tone="degraded" title={exactly(n)}>
              {count(n)}
            </dd>
          </FragmentOf>
        ))}
        {misses.map(([reason, n]) => (
          <FragmentOf key={reason} title={missText(reason)}>
            <dd title={exactly(n)} data-testid="node-misses">
              {count(n)}
              {own.inTotal > 0
                ? ` · ${t("{n} % of its records", { n: Math.round((100 * n) / own.inTotal) })}`
                : ""}
            </dd>
          </FragmentOf>
        ))}
        {own.deadLetters === 0 ? null : (
          <>
            <dt>{t("Dead letters")}</dt>
            <dd data-tone="degraded" title={exactly(own.deadLetters)}>
              {count(own.deadLetters)}
            </dd>
          </>
        )}
        {own.streamTime === null ? null : (
          <>
            <dt>{t("Stream time")}</dt>
            <dd>{streamClock(own.streamTime)}</dd>
          </>
        )}
        {own.latency === null ? null : (
          <>
            <dt>{t("Latency from the record's time")}</dt>
            <dd title={t("p50 and p99 of the last ten seconds")}>
              {pair(own.latency.event, stale)}
            </dd>
            <dt>{t("Latency from its arrival")}</dt>
            <dd title={t("p50 and p99 of the last ten seconds")}>
              {pair(own.latency.arrival, stale)}
            </dd>
          </>
        )}
        {own.storeRows === null && !store ? null : (
          <>
            <dt>{t("State")}</dt>
            <dd>
              {known(own.storeRows, (n) =>
                t("{n} {n, plural, one {row} other {rows}}", { n: exact(n) }),
              )}
              {own.storeBytes === null || own.storeBytes === 0 ? "" : ` · ${bytes(own.storeBytes)}`}
            </dd>
          </>
        )}
        {own.tasks.length === 0 ? null : (
          <>
            <dt>{t("Tasks")}</dt>
            <dd className="m-mono">{own.tasks.map((task) => task.task).join(" ")}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** The time until the lag is gone, or how fast it grows. */
function Heading({ points }: { points: readonly HistoryPoint[] }) {
  const trend = trendOf(points);
  if (trend === null) return null;
  return trend.kind === "catching up" ? (
    <>
      <dt>{t("Caught up in about")}</dt>
      <dd>{span(trend.inMs)}</dd>
    </>
  ) : (
    <>
      <dt>{t("Lag grows by")}</dt>
      <dd data-tone="degraded">{rate(trend.perSecond)}</dd>
    </>
  );
}

/** `12 ms · 40 ms`: p50 and p99. */
function pair({ p50, p99 }: Percentiles, stale: boolean): string {
  if (stale || p50 === null) return UNKNOWN;
  return `${known(p50, span)} · ${known(p99, span)}`;
}

function FragmentOf(props: { title: string; children: React.ReactNode }) {
  return (
    <>
      <dt>{props.title}</dt>
      {props.children}
    </>
  );
}

function covered(points: readonly HistoryPoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < 2_000) return "";
  return t("last {time}", { time: span(last.at - first.at) });
}

const WIDTH = 312;
const HEIGHT = 56;

/** Rate over time as a line over a tinted area. */
function Spark({ points }: { points: readonly HistoryPoint[] }) {
  const id = useId();
  const paths = useMemo(() => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || last.at === first.at) return null;
    const values = points.map((point) => Math.max(point.inRate, point.outRate));
    const top = Math.max(1, ...values) * 1.15;
    const line = points
      .map((point, index) => {
        const x = ((point.at - first.at) / (last.at - first.at)) * WIDTH;
        const y = HEIGHT - 1 - ((values[index] ?? 0) / top) * (HEIGHT - 4);
        return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
      })
      .join("");
    return { line, area: `${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`, top };
  }, [points]);
  return (
    <svg
      className={classes.chart}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-labelledby={id}
    >
      <title id={id}>{t("Records per second over time")}</title>
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} stroke="var(--m-line)" />
      {paths === null ? null : (
        <>
          <path d={paths.area} fill="var(--m-accent)" fillOpacity="0.12" />
          <path
            d={paths.line}
            fill="none"
            stroke="var(--m-accent)"
            strokeWidth="1.5"
            vectorEffect="non-scaling-stroke"
          />
        </>
      )}
    </svg>
  );
}
