import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import type { Figures } from "../api/types";
import { type Ink, tick, times, written } from "./charts";
import classes from "./charts.module.css";

function color(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(token).trim();
}

function options(
  found: Figures,
  inks: readonly Ink[],
  width: number,
  height: number,
  onPoint: (index: number | null) => void,
): UPlot.Options {
  const font = `12px ${color("--m-font")}`;
  const axis = {
    stroke: color("--m-muted"),
    font,
    grid: { stroke: color("--m-line"), width: 1 },
    ticks: { stroke: color("--m-line"), width: 1, size: 4 },
  };
  return {
    width,
    height,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      x: { range: [found.begin, found.begin + (found.points - 1) * found.step] },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 70,
        values: (_plot, ticks) => ticks.map((at) => tick(at, found.range)),
      },
      {
        ...axis,
        size: 72,
        space: 34,
        values: (_plot, ticks) => ticks.map((value) => written(found.unit, value)),
      },
    ],
    series: [
      {},
      ...found.series.map((each, index) => ({
        label: each.name,
        stroke: color(inks[index]?.token ?? "--m-muted"),
        dash: [...(inks[index]?.dash ?? [])],
        width: 1.5,
        // A single value between two gaps would be a line of length 0, so it is drawn as a point.
        points: { show: lonely(each.values), size: 4 },
      })),
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

function lonely(values: readonly (number | null)[]): boolean {
  return values.filter((value) => value !== null).length < 3;
}

/** Lines over time, redrawn when the figures, the theme or the size change. */
export function Chart(props: {
  found: Figures;
  inks: readonly Ink[];
  theme: string;
  label: string;
  onPoint: (index: number | null) => void;
}) {
  const { found, inks, label, onPoint, theme } = props;
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme determines the colors
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { clientHeight, clientWidth } = element;
    const data: UPlot.AlignedData = [
      times(found),
      ...found.series.map((each) => each.values as (number | null)[]),
    ];
    const plot = new UPlot(options(found, inks, clientWidth, clientHeight, onPoint), data, element);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [found, inks, onPoint, theme]);
  return <div ref={place} className={classes.plot} role="img" aria-label={label} />;
}
