import { useEffect, useRef } from "react";
import { type NodeFigures, TASK_STATES, useRuntime } from "../designer/runtime";
import { rate } from "../ui/format";
import { t } from "../ui/i18n";
import { explain, showNodeFigures } from "./liveFigures";

const MAX_BARS = 8;
/** Pixels of the bar of a task without records, and of the busiest task. */
const LOWEST = 3;
const HIGHEST = 12;

/** The heights of the bars: a task's share of the busiest task's rate; all the same if rates are unknown. */
export function heightsOf(tasks: NodeFigures["tasks"]): readonly number[] {
  const top = Math.max(0, ...tasks.map((task) => task.rate ?? 0));
  return tasks.map(({ rate: own }) =>
    own === null || top === 0 ? HIGHEST : Math.round(LOWEST + (HIGHEST - LOWEST) * (own / top)),
  );
}

function draw(element: HTMLElement, figures: NodeFigures | null) {
  const tasks = figures?.tasks ?? [];
  const sign = tasks.map((task) => `${task.task}${task.state}`).join();
  if (element.dataset.sign !== sign) {
    element.dataset.sign = sign;
    const bars = tasks.slice(0, MAX_BARS).map((task) => {
      const bar = document.createElement("i");
      bar.dataset.state = task.state;
      bar.dataset.task = task.task;
      return bar;
    });
    element.replaceChildren(...bars);
    if (tasks.length > MAX_BARS) element.append(`+${tasks.length - MAX_BARS}`);
    if (tasks.length === 0) {
      element.removeAttribute("role");
      element.removeAttribute("aria-label");
    } else {
      element.setAttribute("role", "img");
      element.setAttribute(
        "aria-label",
        t("{n} {n, plural, one {task} other {tasks}}", { n: tasks.length }),
      );
    }
  }
  const heights = heightsOf(tasks);
  for (const [at, bar] of element.querySelectorAll("i").entries()) {
    const task = tasks[at];
    if (task === undefined) continue;
    const height = `${heights[at]}px`;
    if (bar.style.height !== height) bar.style.height = height;
    explain(bar, () => {
      const speed = task.rate === null ? "" : ` · ${rate(task.rate)}`;
      return `${t("Task")} ${task.task}: ${t(TASK_STATES[task.state])}${speed}`;
    });
  }
}

/**
 * One bar per task: its height is the task's share of the busiest task's rate, its color the task's state. They are written
 * directly into the DOM so that React does not render.
 */
export function TaskBars({ node }: { node: string }) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const stop = showNodeFigures(node, (figures) => draw(element, figures));
    const stopHover = useRuntime.subscribe((state, before) => {
      if (state.hoveredTask === before.hoveredTask) return;
      for (const bar of element.querySelectorAll<HTMLElement>("i")) {
        bar.toggleAttribute("data-lit", bar.dataset.task === state.hoveredTask);
      }
    });
    return () => {
      stop();
      stopHover();
    };
  }, [node]);
  return (
    <span
      className="task-bars"
      ref={box}
      onPointerOver={(event) => {
        const task = (event.target as HTMLElement).dataset.task;
        if (task !== undefined) useRuntime.getState().setHoveredTask(task);
      }}
      onPointerLeave={() => useRuntime.getState().setHoveredTask(null)}
    />
  );
}
