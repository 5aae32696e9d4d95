import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { RunButton } from "./RunButton";
import { useSimulation } from "./store";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  useSimulation.setState({ phase: "idle" });
});

test("while a run takes longer than a moment, its button cancels it", () => {
  const cancel = vi.fn();
  useSimulation.setState({ phase: "running", cancel });
  open(<RunButton ws="main" disabled={false} />);
  const button = screen.getByTestId("simulate-run");
  expect(button.textContent).toContain("Run");
  fireEvent.click(button);
  expect(cancel).not.toHaveBeenCalled();
  act(() => vi.advanceTimersByTime(400));
  expect(button.textContent).toContain("Cancel");
  fireEvent.click(button);
  expect(cancel).toHaveBeenCalledWith("main");
  act(() => useSimulation.setState({ phase: "idle" }));
  expect(button.textContent).toContain("Run");
});
