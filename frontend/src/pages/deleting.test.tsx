import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { aTopology } from "../testing/samples";
import { DeleteDialog } from "./DeleteDialog";

const brief = { version: 1, desired: "running", observed: "running" } as const;
let asked: string[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "DELETE") asked.push(new URL(request.url, "http://localhost").pathname);
    return request.method === "DELETE"
      ? new Response(null, { status: 204 })
      : Response.json({ count: 0, next: null, previous: null, results: [] });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(deployments: ReturnType<typeof aTopology>["deployments"]) {
  const topology = aTopology({ deployments, deployment: deployments[0] ?? null });
  open(<DeleteDialog ws="main" topology={topology} onClose={() => undefined} />);
}

test("a topology is not deleted while an older deployment of it runs", async () => {
  show([
    { ...brief, id: 9, environment: "prod", desired: "stopped", observed: "stopped" },
    { ...brief, id: 4, environment: "dev" },
  ]);
  await screen.findByText("It is deployed: dev. Stop it there first.");
  expect(screen.queryByLabelText("Type its name to confirm")).toBeNull();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Delete" }).disabled).toBe(true);
});

test("what is deleted with a topology is said, also its stopped deployments", async () => {
  show([{ ...brief, id: 9, environment: null, desired: "stopped", observed: "stopped" }]);
  await screen.findByText(/Its 1 deployment is deleted too, with state, logs/);
  expect(document.body.textContent).toContain("versions, drafts, tests and comments");
  const name = screen.getByLabelText("Type its name to confirm");
  fireEvent.change(name, { target: { value: "Word count" } });
  fireEvent.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(asked).toEqual(["/api/topologies/1"]));
});
