import { cleanup, fireEvent, screen } from "@testing-library/react";
import { useLocation } from "react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDialog } from "../commands/dialogs";
import { editor } from "../commands/kit";
import { open } from "../testing/rendering";
import { Dialogs } from "./Dialogs";

/** The address of the page. */
function Address() {
  return <p data-testid="address">{useLocation().pathname}</p>;
}

beforeEach(() => {
  editor();
  // biome-ignore lint/suspicious/noDocumentCookie: the client reads the token there
  document.cookie = "csrftoken=x";
  vi.stubGlobal("fetch", async (request: Request) => {
    const search = new URL(request.url).searchParams.get("search") ?? "";
    const names = ["Payments per hour", "Payments, daily", "Clicks"].map((name, id) => ({
      id,
      name,
      description: "",
    }));
    const results = names.filter(({ name }) => name.toLowerCase().includes(search));
    return Response.json({ count: results.length, next: null, previous: null, results });
  });
});

afterEach(() => {
  openDialog(null);
  cleanup();
  vi.unstubAllGlobals();
});

test("the command palette opens another topology by its name", async () => {
  openDialog("commands");
  open(
    <>
      <Dialogs />
      <Address />
    </>,
    "/w/:ws/t/:id",
    "/w/main/t/7",
  );
  const field = await screen.findByRole("combobox");
  fireEvent.change(field, { target: { value: "payments" } });
  await screen.findByRole("option", { name: "Open the topology Payments per hour" });
  expect(screen.queryByRole("option", { name: /Clicks/ })).toBeNull();
  fireEvent.click(screen.getByRole("option", { name: "Open the topology Payments, daily" }));
  await vi.waitFor(() => expect(screen.getByTestId("address").textContent).toBe("/w/main/t/1"));
});
