import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { Tokens } from "./Tokens";

const token = (id: number, name: string, expires_at: string | null) => ({
  ...{ id, name, prefix: `mr_${id}`, created_at: "2026-01-01T00:00:00Z", expires_at },
});
let tokens: ReturnType<typeof token>[];

beforeEach(() => {
  tokens = [token(1, "old", "2026-01-08T00:00:00Z"), token(2, "ci", "2999-01-01T00:00:00Z")];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "POST") {
      const made = token(3, "new", null);
      tokens = [...tokens, made];
      return Response.json({ ...made, token: "mr_3_secret" }, { status: 201 });
    }
    if (request.method === "DELETE") {
      tokens = tokens.filter(({ id }) => !request.url.endsWith(`/${id}`));
      return new Response(null, { status: 204 });
    }
    return Response.json({ count: tokens.length, next: null, previous: null, results: tokens });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const row = async (name: string) => (await screen.findByText(name)).closest("tr");

test("a token that has expired says so", async () => {
  open(<Tokens />);
  expect((await row("old"))?.textContent).toContain("expired");
  expect((await row("ci"))?.textContent).not.toContain("expired");
});

test("the secret of a new token goes with the token when that is revoked", async () => {
  open(<Tokens />);
  const name = screen.getByLabelText("Name of the token");
  fireEvent.change(name, { target: { value: "new" } });
  fireEvent.click(screen.getByRole("button", { name: "Create a token" }));
  await screen.findByText("mr_3_secret");
  const revoke = (await row("new"))?.querySelector("[data-testid=revoke-token]");
  if (revoke == null) throw new Error("There is no button");
  fireEvent.click(revoke);
  fireEvent.click(await screen.findByTestId("revoke-token-now"));
  await waitFor(() => expect(screen.queryByText("mr_3_secret")).toBeNull());
});
