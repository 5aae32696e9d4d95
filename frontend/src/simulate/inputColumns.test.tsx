import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { open } from "../testing/rendering";
import { InputsTable } from "./InputsTable";
import { columnsOf, templateOf, useInputColumns } from "./inputColumns";
import { newRow } from "./scenario";
import { useSimulation } from "./store";

const row = newRow({ topic: "orders", value: "1" });
const heads = () =>
  [...document.querySelectorAll("[data-testid=simulation-inputs] > div:first-child > span")].map(
    (each) => each.textContent,
  );

beforeEach(() => useInputColumns.setState({ more: false, key: null }));
afterEach(cleanup);

test("partition and headers have columns when they are asked for or filled in", () => {
  useSimulation.setState({ rows: [row] });
  open(<InputsTable bad={[]} />);
  expect(heads()).toEqual(["", "Topic", "Key", "Value", "Time"]);
  fireEvent.click(screen.getByRole("button", { name: "Partition and headers" }));
  expect(heads()).toEqual(["", "Topic", "Key", "Value", "Time", "Partition", "Headers"]);
  expect(JSON.parse(localStorage.getItem("millrace.inputs") ?? "")).toMatchObject({ more: true });
  expect(columnsOf([row], false)).not.toContain("headers");
  expect(columnsOf([row, { ...row, headers: "{}" }], false)).toContain("headers");
});

test("the key is as wide as its edge is moved, and the value takes the rest", () => {
  useSimulation.setState({ rows: [row] });
  open(<InputsTable bad={[]} />);
  const edge = screen.getByRole("separator", { name: "Width of the key" });
  for (let n = 0; n < 6; n += 1) fireEvent.keyDown(edge, { key: "ArrowRight" });
  const { key } = useInputColumns.getState();
  expect(templateOf(["key", "value"], key)).toBe(`46px ${key}px minmax(150px, 8fr) 28px`);
  expect(key).toBeGreaterThanOrEqual(60);
  fireEvent.doubleClick(edge);
  expect(templateOf(["key"], useInputColumns.getState().key)).toContain("minmax(78px, 1fr)");
});
