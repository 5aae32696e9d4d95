import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { timeOf } from "./scenario";
import { TimeCell } from "./TimeCell";

let kept = "";

function Cell({ first }: { first: string }) {
  const [value, setValue] = useState(first);
  kept = value;
  return <TimeCell aria-label="Time" value={value} onChange={setValue} />;
}

function cell(first: string): HTMLInputElement {
  render(<Cell first={first} />);
  return screen.getByLabelText("Time");
}

afterEach(cleanup);

test("a timestamp is shown as a date, and its number is kept", () => {
  const input = cell("1767225600407");
  expect(input.value).toBe("2026-01-01 00:00:00.407");
  expect(input.title).toContain("1767225600407 ms");
  fireEvent.focus(input);
  fireEvent.blur(input);
  expect(kept).toBe("1767225600407");
});

test.each([
  ["60000", "1970-01-01 00:01:00.000", 60_000],
  ["2026-01-01 10:00", "2026-01-01 10:00:00.000", 1_767_261_600_000],
  ["2026-01-01T10:00:00+02:00", "2026-01-01 08:00:00.000", 1_767_254_400_000],
])("the typed time %s stays while it is edited", (typed, shown, at) => {
  const input = cell("7");
  fireEvent.change(input, { target: { value: typed } });
  expect(input.value).toBe(typed);
  fireEvent.blur(input);
  expect(input.value).toBe(shown);
  expect(timeOf(kept)).toBe(at);
});

test.each(["soon", "2026-02-31", "-5", ""])("the text “%s” is not lost", (typed) => {
  const input = cell("7");
  fireEvent.change(input, { target: { value: typed } });
  fireEvent.blur(input);
  expect([input.value, kept]).toEqual([typed, typed]);
});
