import { Select, useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useCallback, useMemo, useState } from "react";
import { getFigures } from "../api/deploymentCalls";
import type { Figures } from "../api/types";
import { hueOf } from "../designer/derived";
import { reasonText } from "../designer/reasons";
import { useDesigner } from "../designer/store";
import { Loading } from "../frame/Loading";
import { Waiting } from "../frame/Waiting";
import { findNode, labelOf } from "../graph/document";
import { exactly } from "../live/figures";
import { NeverDeployed } from "../live/NeverDeployed";
import { useLive } from "../live/store";
import { Empty, Note, Segments } from "../ui";
import { moment } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import {
  endsOf,
  type FigureName,
  GROUPS,
  type Ink,
  inksOf,
  RANGES,
  type RangeName,
  written,
} from "./charts";
import classes from "./charts.module.css";

const Chart = later(async () => (await import("./Chart")).Chart);

/** Interval of requests by range, in milliseconds. Figures arrive every ten seconds; long ranges change slowly. */
const ASK_MS: Readonly<Record<RangeName, number>> = {
  "15m": 10_000,
  "1h": 10_000,
  "6h": 60_000,
  "24h": 60_000,
  "7d": 300_000,
  "14d": 300_000,
};

/** Charts of the deployment's figures over the last minutes, hours or days. */
export function ChartsPanel() {
  const id = useLive((state) => state.deployment?.id ?? null);
  if (id === null) {
    return (
      <NeverDeployed>
        {t({
          id: "runtime.charts_of_rates_lag",
          message: "Charts of rates, lag, state and batches appear here after the first start.",
        })}
      </NeverDeployed>
    );
  }
  return <Charts key={id} deployment={id} />;
}

function Charts({ deployment }: { deployment: number }) {
  const [figure, setFigure] = useState<FigureName>("node_in");
  const [range, setRange] = useState<RangeName>("15m");
  const [name, setName] = useState<string | null>(null);
  const found = useQuery({
    queryKey: ["figures", deployment, figure, range, name],
    queryFn: ({ signal }) => getFigures(deployment, figure, range, name, signal),
    refetchInterval: ASK_MS[range],
    placeholderData: (before) => (before?.figure === figure ? before : undefined),
  });
  const title = useTitle(found.data?.of ?? "");
  return (
    <div className="ui-panel" data-testid="charts">
      <div className="ui-bar">
        <Select
          aria-label={t("Figure")}
          value={figure}
          onChange={(next) => {
            if (next === null) return;
            setFigure(next as FigureName);
            setName(null);
          }}
          data={GROUPS.map(([group, figures]) => ({
            group: t(group),
            items: figures.map(([value, label]) => ({ value, label: t(label) })),
          }))}
          maxDropdownHeight={420}
          w={212}
          data-testid="chart-figure"
        />
        <Select
          aria-label={t("Shown")}
          placeholder={t("All")}
          value={name}
          onChange={setName}
          data={(found.data?.names ?? []).map((each) => ({ value: each, label: title(each) }))}
          clearable
          searchable
          limit={100}
          nothingFoundMessage={t("No matches")}
          w={160}
          data-testid="chart-name"
        />
        <span className="ui-space" />
        <Segments
          label={t("Range")}
          value={range}
          onChange={setRange}
          items={RANGES.map(([id, label]) => ({ id, title: t(label) }))}
        />
      </div>
      <Waiting query={found} kept={found.data !== undefined} />
      {found.isError && found.data !== undefined ? (
        <Note tone="degraded">{found.error.message}</Note>
      ) : null}
      {found.data === undefined ? null : found.data.series.length === 0 ? (
        <Empty title={t("No figures in this period")}>
          {t({
            id: "runtime.they_are_recorded_every",
            message:
              "They are recorded every ten seconds while the deployment runs, and kept for two weeks.",
          })}
        </Empty>
      ) : (
        <Lines found={found.data} title={title} />
      )}
    </div>
  );
}

/** Titles of series: nodes by their labels instead of their ids. */
function useTitle(of: string): (name: string) => string {
  const document = useDesigner((state) => state.document);
  return (name) => {
    if (of === "subtopology") return `${t("Sub-topology")} ${name}`;
    if (of !== "node" && of !== "reason") return name;
    const [id = "", reason] = name.split(": ");
    const node = findNode(document, id);
    const label = node === undefined ? id : labelOf(node);
    return reason === undefined ? label : `${label}: ${reasonText(reason)}`;
  };
}

/** A piece of a line, as in the chart. */
function Swatch({ ink }: { ink: Ink | undefined }) {
  return (
    <svg className={classes.swatch} viewBox="0 0 20 4" aria-hidden>
      <path
        d="M0 2H20"
        stroke={`var(${ink?.token ?? "--m-muted"})`}
        strokeWidth="3"
        strokeDasharray={ink?.dash.join(" ")}
      />
    </svg>
  );
}

/** The hue of a series of a node on the canvas; null for other series. */
function useHue(of: string): (name: string) => string | null {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  return useCallback(
    (name) => {
      const [id = ""] = name.split(": ");
      const node = of === "node" || of === "reason" ? findNode(document, id) : undefined;
      return node === undefined || catalog === null ? null : hueOf(catalog, node.kind);
    },
    [catalog, document, of],
  );
}

function Lines({ found, title }: { found: Figures; title: (name: string) => string }) {
  const theme = useComputedColorScheme("light");
  const [point, setPoint] = useState<number | null>(null);
  const hue = useHue(found.of);
  const inks = useMemo(
    () =>
      inksOf(
        found.series.map((each) => each.name),
        hue,
      ),
    [found, hue],
  );
  const at = point === null ? null : (found.begin + point * found.step) * 1000;
  const figure = GROUPS.flatMap(([, each]) => each).find(([id]) => id === found.figure);
  return (
    <div className={classes.body}>
      <div className={classes.place}>
        <Suspense fallback={<Loading />}>
          <Chart
            found={found}
            inks={inks}
            theme={theme}
            label={figure === undefined ? "" : t(figure[1])}
            onPoint={setPoint}
          />
        </Suspense>
      </div>
      <div className={`${classes.legend} m-scroll`}>
        <table data-testid="chart-legend">
          <thead>
            <tr>
              <th className={classes.name}>{at === null ? t("Series") : moment(at)}</th>
              <th>{at === null ? t("Last") : t("Value")}</th>
              <th>{t("Highest")}</th>
            </tr>
          </thead>
          <tbody>
            {found.series.map((each, index) => {
              const { highest, last } = endsOf(each.values);
              const value = point === null ? last : (each.values[point] ?? null);
              return (
                <tr key={each.name}>
                  <td className={classes.name} title={title(each.name)}>
                    <Swatch ink={inks[index]} />
                    <span className="m-cut">{title(each.name)}</span>
                  </td>
                  <td title={exactly(value)}>{written(found.unit, value)}</td>
                  <td title={exactly(highest)}>{written(found.unit, highest)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {found.left_out === 0 ? null : (
          <p className={classes.more}>
            {t("{n} more with lower values: choose one above.", { n: found.left_out })}
          </p>
        )}
      </div>
    </div>
  );
}
