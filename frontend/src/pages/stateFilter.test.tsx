import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { choose, open } from "../testing/rendering";
import { aTopology } from "../testing/samples";
import { TopologiesPage } from "./TopologiesPage";

const TOPOLOGIES = [
  aTopology({ id: 1, name: "Orders" }),
  aTopology({ id: 2, name: "Clicks", deployment: null }),
];
let asked: (string | null)[];

/** A connection over which nothing is reported. */
class QuietSource {
  addEventListener() {}
  close() {}
}

beforeEach(() => {
  asked = [];
  vi.stubGlobal("EventSource", QuietSource);
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (!pathname.endsWith("/topologies"))
      return Response.json({ user: null, workspaces: [], count: 0, results: [] });
    const state = searchParams.get("state");
    asked.push(state);
    const results = state === null ? TOPOLOGIES : state === "none" ? TOPOLOGIES.slice(1) : [];
    return Response.json({ count: results.length, next: null, previous: null, results });
  });
});

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/");
  vi.unstubAllGlobals();
});

test("topologies are listed by what their deployments do", async () => {
  open(<TopologiesPage />, "/w/:ws", "/w/main");
  await screen.findByText("Orders");
  await choose("State of the deployment", "Not deployed");
  await waitFor(() => expect(screen.queryByText("Orders")).toBeNull());
  screen.getByText("Clicks");
  expect(location.search).toBe("?state=none");
  cleanup();
  // A link to the list has the state.
  open(<TopologiesPage />, "/w/:ws", "/w/main");
  await screen.findByText("Clicks");
  expect(asked).toEqual([null, "none", "none"]);
  await choose("State of the deployment", "With problems");
  await screen.findByText("No topology is in this state.");
});
