import { useMemo } from "react";
import { type HistoryPoint, useRuntime } from "../designer/runtime";
import { bytes, clock, count, exact, rate } from "../ui/format";
import { t } from "./texts";

const WIDTH = 312;
const HEIGHT = 56;

/** Records per second over the last minutes, as an area. */
function Sparkline({ points }: { points: readonly HistoryPoint[] }) {
  const path = useMemo(() => {
    const shown = points.map((point) => ({
      at: point.at,
      rate: Math.max(point.inRate, point.outRate),
    }));
    const first = shown[0];
    const last = shown.at(-1);
    if (first === undefined || last === undefined || shown.length < 2) return null;
    const top = Math.max(...shown.map((point) => point.rate), 1e-9) * 1.15;
    const long = Math.max(1, last.at - first.at);
    const place = (point: { at: number; rate: number }) =>
      `${(((point.at - first.at) / long) * WIDTH).toFixed(1)} ${(HEIGHT - (point.rate / top) * HEIGHT).toFixed(1)}`;
    const line = `M${shown.map(place).join("L")}`;
    return { line, area: `${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z` };
  }, [points]);
  if (path === null) return null;
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t("rateOverTime")}
    >
      <path className="sparkline-area" d={path.area} />
      <path className="sparkline-line" d={path.line} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

const NO_POINTS: readonly HistoryPoint[] = [];

/** Live figures of one node; nothing while it does not run. */
export function RuntimeSection({ node }: { node: string }) {
  const figures = useRuntime((state) => state.figures?.nodes[node]);
  const points = useRuntime((state) => state.history[node] ?? NO_POINTS);
  if (figures === undefined) return null;
  const drops = Object.entries(figures.dropped).filter(([, number]) => number > 0);
  const rows: { name: string; value: string; title?: string; tone?: string }[] = [
    {
      name: t("recordsIn"),
      value: rate(figures.inRate),
      title: t("inAll", { n: exact(figures.inTotal) }),
    },
    {
      name: t("recordsOut"),
      value: rate(figures.outRate),
      title: t("inAll", { n: exact(figures.outTotal) }),
    },
    ...drops.map(([reason, number]) => ({
      name: t("droppedFor", { reason: reason.replaceAll("_", " ") }),
      value: count(number),
      title: exact(number),
      tone: "degraded",
    })),
  ];
  if (figures.lag !== null) {
    rows.push({ name: t("lag"), value: count(figures.lag), title: exact(figures.lag) });
  }
  if (figures.streamTime !== null) {
    rows.push({ name: t("streamTime"), value: clock(figures.streamTime) });
  }
  if (figures.storeRows !== null) {
    const size = figures.storeBytes === null ? "" : ` · ${bytes(figures.storeBytes)}`;
    rows.push({
      name: t("state"),
      value: `${t("rows", { n: count(figures.storeRows) })}${size}`,
      title: exact(figures.storeRows),
    });
  }
  const long = points.length < 2 ? 0 : (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  return (
    <section className="inspector-section">
      <h3>
        {t("running")}
        <span className="m-muted">
          {long < 60_000 ? "" : t("lastMinutes", { n: Math.round(long / 60_000) })}
        </span>
      </h3>
      <Sparkline points={points} />
      <dl className="figures m-figures">
        {rows.map((row) => (
          <div key={row.name} title={row.title}>
            <dt>{row.name}</dt>
            <dd data-tone={row.tone}>{row.value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
