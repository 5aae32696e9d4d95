import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Shell } from "../frame/Shell";
import { open } from "../testing/rendering";
import { InstallationPage } from "./InstallationPage";
import { slugOf } from "./NewWorkspaceDialog";

const account = (id: number, name: string, more: object = {}) => ({
  id,
  username: name,
  display_name: name,
  workspaces: ["main"],
  has_password: true,
  last_login: null,
  active: true,
  installation_admin: false,
  ...more,
});

let workspaces: { id: number; slug: string; name: string; role: string }[];
let sent: { method: string; path: string; body: unknown }[];

function page(results: unknown[]) {
  return Response.json({ count: results.length, next: null, previous: null, results });
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method !== "GET") {
    const body = request.method === "DELETE" ? null : await request.json();
    sent.push({ method: request.method, path: pathname, body });
    if (pathname === "/api/installation/workspaces") {
      const made = { id: 2, slug: "orders", name: "Orders", topic_prefixes: [] };
      return Response.json(
        { workspace: made, sign_in_link: "http://x/sign-in/secret" },
        { status: 201 },
      );
    }
    return request.method === "DELETE"
      ? new Response(null, { status: 204 })
      : Response.json(account(1, "ada"));
  }
  if (pathname === "/api/session") {
    return Response.json({
      user: { id: 9, username: "me", display_name: "Me" },
      workspaces,
      has_password: true,
      installation_admin: true,
    });
  }
  if (pathname === "/api/installation/accounts") {
    return page([
      account(1, "ada"),
      account(9, "me", { installation_admin: true }),
      account(3, "gone", { active: false, workspaces: [] }),
    ]);
  }
  if (pathname === "/api/installation/drafts") {
    return page([
      { id: 5, user: "gone", workspace: "main", size: 2_000, updated_at: "2026-01-01T00:00:00Z" },
    ]);
  }
  return page([]);
}

beforeEach(() => {
  workspaces = [{ id: 1, slug: "main", name: "Main", role: "admin" }];
  sent = [];
  vi.stubGlobal("fetch", (asked: Request | string, init?: RequestInit) =>
    answer(asked instanceof Request ? asked : new Request(asked, init)),
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("an account is closed only after a confirmation, and a closed one can be opened", async () => {
  open(<InstallationPage />);
  const [close] = await screen.findAllByTestId("close-account");
  if (close === undefined) throw new Error("nothing to close");
  fireEvent.click(close);
  await screen.findByText(/ada loses access at once/);
  expect(sent).toEqual([]);
  fireEvent.click(await screen.findByTestId("close-account-now"));
  await waitFor(() => expect(sent).toHaveLength(1));
  fireEvent.click(screen.getByRole("button", { name: "Open again" }));
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent.map(({ path, body }) => [path, body])).toEqual([
    ["/api/installation/accounts/1", { active: false }],
    ["/api/installation/accounts/3", { active: true }],
  ]);
  expect(screen.getAllByTestId("close-account")).toHaveLength(1);
});

test("an abandoned draft is deleted after a confirmation", async () => {
  open(<InstallationPage />);
  fireEvent.click(await screen.findByTestId("delete-draft"));
  fireEvent.click(await screen.findByTestId("delete-draft-now"));
  await waitFor(() =>
    expect(sent).toEqual([{ method: "DELETE", path: "/api/installation/drafts/5", body: null }]),
  );
});

test("a workspace is created with the address of its name and shows its admin's link", async () => {
  open(<InstallationPage />);
  fireEvent.click(await screen.findByTestId("create-workspace"));
  fireEvent.change(await screen.findByLabelText(/^Name/), { target: { value: "Orders & Co" } });
  fireEvent.change(screen.getByLabelText(/^User name of its first admin/), {
    target: { value: "ada" },
  });
  fireEvent.click(screen.getByRole("button", { name: "Create" }));
  expect((await screen.findByTestId("sign-in-link")).textContent).toBe("http://x/sign-in/secret");
  expect(sent[0]?.body).toEqual({ slug: "orders-co", name: "Orders & Co", admin: "ada" });
});

test("the address of a workspace has letters and digits with hyphens between", () => {
  expect(slugOf("  Orders & Co.  ")).toBe("orders-co");
  expect(slugOf("订单")).toBe("");
  expect(slugOf(`${"a".repeat(49)} b`)).toBe("a".repeat(49));
});

test("members of several workspaces can switch between them", async () => {
  open(<Shell ws="main">page</Shell>);
  await screen.findByText("Main");
  expect(screen.queryByTestId("switch-workspace")).toBeNull();
  cleanup();
  workspaces.push({ id: 2, slug: "orders", name: "Orders", role: "viewer" });
  open(<Shell ws="main">page</Shell>);
  fireEvent.click(await screen.findByTestId("switch-workspace"));
  const items = await screen.findAllByRole("menuitem");
  expect(items.map((item) => item.textContent)).toEqual(["Main", "Orders"]);
  expect(items[0]?.getAttribute("aria-current")).toBe("true");
});
