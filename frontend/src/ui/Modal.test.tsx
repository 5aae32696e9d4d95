import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { Modal } from "./Modal";

afterEach(cleanup);

function show() {
  const close = vi.fn();
  open(
    <Modal opened onClose={close} title="Records">
      <input type="search" aria-label="Search" />
      <input aria-label="Name" />
    </Modal>,
  );
  const beside = document.querySelector(".mantine-Modal-overlay");
  if (beside === null) throw new Error("There is nothing beside the dialog");
  return { close, clickBeside: () => fireEvent.click(beside) };
}

const write = (label: string) =>
  fireEvent.input(screen.getByLabelText(label), { target: { value: "a" } });

test("a click beside a dialog closes it, also after a search", () => {
  const { clickBeside, close } = show();
  write("Search");
  clickBeside();
  expect(close).toHaveBeenCalledTimes(1);
});

test("a click beside a dialog does not close it once something was typed", () => {
  const { clickBeside, close } = show();
  write("Name");
  clickBeside();
  expect(close).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(close).toHaveBeenCalledTimes(1);
});
