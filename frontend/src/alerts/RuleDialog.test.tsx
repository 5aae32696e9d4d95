import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { RuleDialog } from "./RuleDialog";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("what is wrong in a rule is said at its field, and once", async () => {
  const fields = { mail: { 1: ["Enter a valid email address."] } };
  vi.stubGlobal("fetch", async (request: Request) =>
    request.method === "POST"
      ? Response.json(
          { error: { code: "invalid", message: "It is not valid.", fields } },
          { status: 400 },
        )
      : Response.json({ count: 0, next: null, previous: null, results: [] }),
  );
  const close = () => undefined;
  open(<RuleDialog ws="main" rule={null} onClose={close} onSaved={close} />);
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "Slow" } });
  fireEvent.change(screen.getByLabelText("Mail"), { target: { value: "ops@example.org, bad" } });
  fireEvent.click(screen.getByTestId("save-rule"));
  await screen.findByText("Enter a valid email address.");
  expect(screen.queryByText(/It is not valid/)).toBeNull();
});
