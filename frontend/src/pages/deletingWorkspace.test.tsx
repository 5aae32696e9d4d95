import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { DeleteWorkspace } from "./DeleteWorkspace";

const WORKSPACE = { id: 1, slug: "main", name: "Main", role: "admin" } as const;
let running: number;
let asked: string[];

beforeEach(() => {
  running = 0;
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    if (request.method === "DELETE") {
      asked.push(pathname + search);
      return new Response(null, { status: 204 });
    }
    const counts = { topologies: 40, deployments: 1, running, members: 3 };
    return Response.json({ slug: "main", name: "Main", ...counts });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });

test("a workspace is deleted once its name is typed, after saying what is lost", async () => {
  open(<DeleteWorkspace workspace={WORKSPACE} />);
  fireEvent.click(button("Delete…"));
  await screen.findByText(/its 40 topologies with all versions.*its 1 deployment with state/);
  expect(document.body.textContent).toContain("3 members lose access");
  const name = screen.getByLabelText("Type its name to confirm");
  fireEvent.change(name, { target: { value: "main" } });
  expect(button("Delete").disabled).toBe(true);
  fireEvent.change(name, { target: { value: "Main" } });
  fireEvent.click(button("Delete"));
  await waitFor(() => expect(asked).toEqual(["/api/workspaces/main?name=Main"]));
});

test("a workspace is not deleted while deployments of it run", async () => {
  running = 2;
  open(<DeleteWorkspace workspace={WORKSPACE} />);
  fireEvent.click(button("Delete…"));
  await screen.findByText("2 deployments of it run. Stop them first.");
  expect(screen.queryByLabelText("Type its name to confirm")).toBeNull();
  expect(button("Delete").disabled).toBe(true);
});
