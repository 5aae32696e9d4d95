import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { useRuntime } from "../designer/runtime";
import { useDesigner } from "../designer/store";
import { useSummary } from "./OperatorNode";

function Summary() {
  return <p>{useSummary("keep")}</p>;
}

const keeps = (value: number) => ({
  form: "keeps {predicate}",
  values: { predicate: `n > ${value}` },
});

afterEach(() => {
  cleanup();
  useRuntime.getState().setSentences(null);
  useDesigner.setState({ layer: "design", result: null });
});

test("in Runtime, a node says what it does with the values of its environment", () => {
  useDesigner.setState({ layer: "design", result: { summary: { keep: keeps(3) } } as never });
  useRuntime.getState().setSentences({ keep: keeps(6) as never });
  render(<Summary />);
  expect(screen.getByText("keeps n > 3")).not.toBeNull();
  cleanup();
  useDesigner.setState({ layer: "runtime" });
  render(<Summary />);
  expect(screen.getByText("keeps n > 6")).not.toBeNull();
});
