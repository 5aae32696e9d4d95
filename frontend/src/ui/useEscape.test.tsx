import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useRef, useState } from "react";
import { afterEach, expect, test } from "vitest";
import { useEscape } from "./useEscape";

function Card() {
  const [opened, setOpened] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const [close] = useState(() => () => setOpened(false));
  useEscape(opened, close, opener);
  return (
    <>
      <button type="button" ref={opener} onClick={() => setOpened(true)}>
        Open
      </button>
      {opened ? (
        <button type="button" onClick={close}>
          Act and close
        </button>
      ) : null}
    </>
  );
}

afterEach(cleanup);

test("the focus goes back to the opener, by Escape and by a button inside that closes", async () => {
  render(<Card />);
  const opener = screen.getByText("Open");
  for (const leave of [
    () => userEvent.keyboard("{Escape}"),
    () => userEvent.click(screen.getByText("Act and close")),
  ]) {
    await userEvent.click(opener);
    screen.getByText("Act and close").focus();
    await leave();
    expect(screen.queryByText("Act and close")).toBeNull();
    await waitFor(() => expect(document.activeElement).toBe(opener));
  }
});
