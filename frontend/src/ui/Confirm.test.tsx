import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { Confirm } from "./Confirm";

afterEach(cleanup);

test("only the second button acts, and Cancel takes the question back", () => {
  const act = vi.fn();
  open(
    <Confirm
      title="Revoke…"
      question="Programs lose access."
      action="Revoke the token"
      busy={false}
      onConfirm={act}
    />,
  );
  fireEvent.click(screen.getByText("Revoke…"));
  expect(screen.getByText("Programs lose access.")).toBeTruthy();
  fireEvent.click(screen.getByText("Cancel"));
  expect(screen.queryByText("Programs lose access.")).toBeNull();
  expect(act).not.toHaveBeenCalled();
  fireEvent.click(screen.getByText("Revoke…"));
  fireEvent.click(screen.getByText("Revoke the token"));
  expect(act).toHaveBeenCalledOnce();
  expect(screen.queryByText("Programs lose access.")).toBeNull();
});
