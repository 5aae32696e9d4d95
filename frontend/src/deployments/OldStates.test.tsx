import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { expect, test, vi } from "vitest";
import { theme } from "../theme/theme";
import { useEditing } from "../versions/editing";
import { OldStates } from "./OldStates";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

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
  const place = document.createElement("div");
  document.body.append(place);
  const root = createRoot(place);
  await act(async () =>
    root.render(
      <QueryClientProvider client={new QueryClient()}>
        <MantineProvider theme={theme} env="test">
          <OldStates deployment={7} states={[state]} operator={true} />
        </MantineProvider>
      </QueryClientProvider>,
    ),
  );
  const button = (text: string) =>
    [...place.querySelectorAll("button")].find((each) => each.textContent === text);
  const type = (text: string) =>
    act(async () => {
      const input = place.querySelector("input");
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      set?.call(input, text);
      input?.dispatchEvent(new Event("input", { bubbles: true }));
    });
  await act(async () => button("Delete…")?.click());
  expect(button("Delete for good")?.disabled).toBe(true);
  await type("word count");
  expect(button("Delete for good")?.disabled).toBe(true);
  await type("Word count");
  await act(async () => button("Delete for good")?.click());
  await vi.waitFor(() =>
    expect(sent).toContain(`DELETE /api/deployments/7/old-state/${state.name}`),
  );
  await act(async () => root.unmount());
  vi.unstubAllGlobals();
});
