import { act } from "react";
import { expect, test, vi } from "vitest";
import { render, type } from "../testing/rendering";
import { useEditing } from "../versions/editing";
import { OldStates } from "./OldStates";

const state = {
  name: "stream-20260101T000000000000Z",
  version: 2,
  left_at: "2026-01-01T00:00:00Z",
  deletable_at: "2026-01-02T00:00:00Z",
  deleted_at: null,
  bytes: 4_500,
};

test("old state is deleted after the name of the topology was typed", async () => {
  const sent: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(null, { status: 204 });
  });
  useEditing.setState({ name: "Word count" });
  const close = await render(<OldStates deployment={7} states={[state]} operator={true} />);
  const button = (text: string) =>
    [...document.querySelectorAll("button")].find((each) => each.textContent === text);
  await act(async () => button("Delete…")?.click());
  expect(button("Delete permanently")?.disabled).toBe(true);
  await type(document.querySelector("input"), "word count");
  expect(button("Delete permanently")?.disabled).toBe(true);
  await type(document.querySelector("input"), "Word count");
  await act(async () => button("Delete permanently")?.click());
  await vi.waitFor(() =>
    expect(sent).toContain(`DELETE /api/deployments/7/old-state/${state.name}`),
  );
  await close();
  vi.unstubAllGlobals();
});
