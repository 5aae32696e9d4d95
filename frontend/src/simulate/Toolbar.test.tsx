import { MantineProvider } from "@mantine/core";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { dispatch } from "../commands/shortcuts";
import { useDesigner } from "../designer/store";
import { Undone, useOwnUndo } from "./InputsUndo";
import { readKept } from "./kept";
import { newRow } from "./scenario";
import { useSimulation } from "./store";
import { OptionsMenu } from "./Toolbar";

vi.mock("../api/topologyCalls", () => ({ sampleInputs: async () => ({ inputs: [] }) }));

function Panel() {
  const box = useRef<HTMLDivElement>(null);
  useOwnUndo(box);
  const { rows, setRows } = useSimulation();
  return (
    <div ref={box}>
      <Undone />
      <OptionsMenu />
      {rows.length === 0 ? null : (
        <button type="button" onClick={() => setRows([], { label: "Clear" })}>
          Clear
        </button>
      )}
    </div>
  );
}

function open() {
  localStorage.clear();
  const state = useSimulation.getState();
  state.open(5);
  state.setRows([newRow({ topic: "a" }), newRow({ topic: "b" })], { label: "Two rows" });
  render(
    <MantineProvider env="test">
      <Panel />
    </MantineProvider>,
  );
}

afterEach(() => {
  cleanup();
  useSimulation.getState().close();
});

test("cleared rows come back with one click, and what was undone is told", () => {
  open();
  fireEvent.click(screen.getByText("Clear"));
  expect(useSimulation.getState().rows).toHaveLength(0);
  expect(screen.getByTestId("inputs-removed").textContent).toContain("2 rows were removed.");
  fireEvent.click(screen.getByText("Undo"));
  expect(useSimulation.getState().rows.map((row) => row.topic)).toEqual(["a", "b"]);
  expect(screen.getByTestId("inputs-undone").textContent).toBe("Undone in the inputs: Clear");
});

test("Ctrl+Z in the panel undoes its inputs, and never an edit of the topology", () => {
  const undo = vi.spyOn(useDesigner.getState(), "undo");
  open();
  const key = (options = {}) => {
    const event = new KeyboardEvent("keydown", {
      ...{ key: "z", ctrlKey: true, bubbles: true, cancelable: true, ...options },
    });
    fireEvent(document.activeElement ?? document.body, event);
    return dispatch(event);
  };
  const button = screen.getByText("Clear");
  fireEvent.pointerDown(button);
  button.focus();
  fireEvent.click(button);
  // The button that had the focus is gone.
  expect(document.activeElement).toBe(document.body);
  expect(key()).toBe(false);
  expect(useSimulation.getState().rows).toHaveLength(2);
  key();
  key();
  // Nothing is left to undo, which does not turn to the topology.
  expect(key()).toBe(false);
  expect(undo).not.toHaveBeenCalled();
  expect(useSimulation.getState().rows).toHaveLength(0);
  key({ key: "Z", shiftKey: true });
  expect(useSimulation.getState().rows).toHaveLength(2);
});

test("the order of the inputs is kept with them, and can be undone", () => {
  open();
  fireEvent.click(screen.getByTestId("simulation-options"));
  const listed = () => screen.getByRole("menuitemradio", { name: /^As listed/ });
  expect(
    screen.getByRole("menuitemradio", { name: /As in production/, checked: true }),
  ).toBeTruthy();
  fireEvent.click(listed());
  expect(readKept(5)?.order).toBe("listed");
  fireEvent.click(screen.getByTestId("simulation-options"));
  expect(listed().getAttribute("aria-checked")).toBe("true");
  fireEvent.click(screen.getByTestId("inputs-undo"));
  expect(readKept(5)?.order).toBe("time");
  fireEvent.click(screen.getByTestId("simulation-options"));
  fireEvent.click(screen.getByTestId("inputs-redo"));
  expect(readKept(5)?.order).toBe("listed");
});

test("options of the simulation run it again on changes, and empty its inputs", () => {
  open();
  fireEvent.click(screen.getByTestId("simulation-options"));
  fireEvent.click(screen.getByRole("menuitemcheckbox", { name: "Run again on every change" }));
  expect(useSimulation.getState().auto).toBe(true);
  expect(screen.getByTestId("simulation-options").dataset.active).toBe("true");
  fireEvent.click(screen.getByTestId("simulation-options"));
  const clear = screen.getByRole("menuitem", { name: "Clear" });
  fireEvent.pointerDown(clear);
  fireEvent.click(clear);
  expect(useSimulation.getState().rows).toEqual([]);
  // The menu belongs to the panel, although it is elsewhere in the document.
  (document.activeElement as HTMLElement | null)?.blur();
  fireEvent.keyDown(document.body, { key: "z", ctrlKey: true });
  expect(useSimulation.getState().rows).toHaveLength(2);
  useSimulation.getState().setAuto(false);
});
