import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { open } from "../testing/rendering";
import { useEditing } from "../versions/editing";
import { Rules } from "./Rules";
import { VersionsTab } from "./VersionsTab";

const AT = "2026-01-01T00:00:00Z";
const ADA = { user_id: 2, name: "Ada", at: AT };
const ME = { user_id: 1, name: "Me", at: AT };

let rules: { tests_required: boolean; approval_required: boolean };
let approved: (typeof ADA)[];
let author: number;
let asked: { method: string; path: string; body: unknown }[];

beforeEach(() => {
  rules = { tests_required: false, approval_required: true };
  [approved, author, asked] = [[], 2, []];
  useEditing.setState({ ws: "main", name: "Orders" });
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const body = text === "" ? null : JSON.parse(text);
    asked.push({ method: request.method, path: pathname, body });
    if (pathname === "/api/session") {
      const user = { id: 1, username: "me", display_name: "Me" };
      return Response.json({ user, workspaces: [], has_password: true, installation_admin: false });
    }
    if (pathname.endsWith("/rules")) {
      if (body !== null) rules = { ...rules, ...body };
      return Response.json(rules);
    }
    if (request.method === "POST") approved = [...approved, ME];
    if (request.method === "DELETE") approved = approved.filter((each) => each !== ME);
    const version = {
      ...{ number: 3, message: "Limit", name: null, author: "Ada", author_id: author },
      ...{ created_at: AT, hash: "h", commit: "0123456789abcdef", approved_by: approved },
    };
    return Response.json({ count: 1, next: null, previous: null, results: [version] });
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () => open(<VersionsTab topology={3} editor operator />);
const menu = async () => fireEvent.click(await screen.findByLabelText("Actions for version 3"));

test("a version of somebody else is approved, and the approval withdrawn", async () => {
  approved = [ADA];
  show();
  expect(await screen.findByText("approved by Ada")).toBeTruthy();
  expect(screen.getByText("· Ada · 0123456789")).toBeTruthy();
  await menu();
  fireEvent.click(await screen.findByText("Approve"));
  expect(await screen.findByText("approved by Ada, Me")).toBeTruthy();
  await menu();
  fireEvent.click(await screen.findByText("Withdraw the approval"));
  expect(await screen.findByText("approved by Ada")).toBeTruthy();
});

test.each([
  ["of oneself", () => (author = 1)],
  ["without the rule", () => (rules.approval_required = false)],
])("a version %s is not offered for approval", async (_, change) => {
  change();
  show();
  await menu();
  expect(await screen.findByText("Export as zip")).toBeTruthy();
  expect(screen.queryByText("Approve")).toBeNull();
});

test("an admin sets each rule by itself", async () => {
  open(<Rules ws="main" admin />);
  const approval = await screen.findByTestId("approval-required");
  await waitFor(() => expect((approval as HTMLInputElement).checked).toBe(true));
  fireEvent.click(approval);
  await waitFor(() => expect((approval as HTMLInputElement).checked).toBe(false));
  expect(asked.find((each) => each.method === "PUT")?.body).toEqual({ approval_required: false });
  cleanup();
  open(<Rules ws="main" admin={false} />);
  expect(((await screen.findByTestId("tests-required")) as HTMLInputElement).disabled).toBe(true);
});
