import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useRuntime } from "../designer/runtime";
import { open } from "../testing/rendering";
import { heightsOf, TaskBars } from "./TaskBars";

afterEach(() => {
  cleanup();
  useRuntime.setState({ figures: null });
});

const task = (name: string, rate: number | null) =>
  ({ task: name, state: "running", rate }) as const;

test("the height of a task's bar is its share of the busiest task's rate", () => {
  expect(heightsOf([task("0_0", 100), task("0_1", 50), task("0_2", 0)])).toEqual([12, 8, 3]);
  expect(heightsOf([task("0_0", null), task("0_1", null)])).toEqual([12, 12]);
  expect(heightsOf([task("0_0", 0)])).toEqual([12]);
});

test("bars change in place, and say task, state and rate", () => {
  const count = (rate: number) => ({ tasks: [task("1_0", 40), task("1_1", rate)] });
  const { container } = open(<TaskBars node="count" />);
  const show = (rate: number) =>
    useRuntime
      .getState()
      .setFigures({ at: 1, stale: false, nodes: { count: count(rate) } } as never);
  show(40);
  const bars = [...container.querySelectorAll<HTMLElement>(".task-bars i")];
  expect(bars.map((bar) => bar.style.height)).toEqual(["12px", "12px"]);
  show(0);
  expect([...container.querySelectorAll(".task-bars i")]).toEqual(bars);
  expect(bars[1]?.style.height).toBe("3px");
  fireEvent.pointerEnter(bars[1] as HTMLElement);
  expect(bars[1]?.title).toBe("Task 1_1: running · 0 /s");
  expect(screen.getByRole("img").getAttribute("aria-label")).toBe("2 tasks");
  useRuntime
    .getState()
    .setFigures({ at: 2, stale: false, nodes: { count: { tasks: [] } } } as never);
  expect(screen.queryByRole("img")).toBeNull();
});
