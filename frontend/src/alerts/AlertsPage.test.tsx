import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Alert, AlertRule, Role } from "../api/types";
import { open } from "../testing/rendering";
import { AlertsPage } from "./AlertsPage";
import { CONDITIONS, ruleText } from "./conditions";

const RULE: AlertRule = {
  id: 3,
  name: "Behind",
  topology: null,
  topology_name: null,
  condition: "lag",
  threshold: 1_000,
  for_seconds: 300,
  webhook: "https://example.org/hook",
  mail: ["ops@example.org"],
  enabled: true,
  updated_by: "Me",
  updated_at: "2026-01-01T00:00:00Z",
};
const ALERT: Alert = {
  id: 9,
  rule: 3,
  name: "Behind",
  condition: "lag",
  threshold: 1_000,
  deployment: 1,
  topology: 2,
  topology_name: "Orders",
  environment: "prod",
  state: "firing",
  value: 2_500,
  since: "2026-01-01T00:00:00Z",
  fired_at: "2026-01-01T00:05:00Z",
  resolved_at: null,
  deliveries: [
    {
      event: "fired",
      channel: "webhook",
      target: "https://example.org/hook",
      state: "sent",
      attempts: 1,
      error: "",
    },
    {
      event: "fired",
      channel: "mail",
      target: "ops@example.org",
      state: "failed",
      attempts: 4,
      error: "no such mailbox",
    },
  ],
};

let role: Role;
let alerts: readonly Alert[];
let rules: readonly AlertRule[];
let asked: { method: string; url: URL; body: unknown }[];
let refusal: unknown;

function answer(url: URL, method: string): Response {
  const list = (results: readonly unknown[]) =>
    Response.json({ count: results.length, next: null, previous: null, results });
  if (url.pathname === "/api/session") {
    return Response.json({
      user: { id: 1, username: "me", display_name: "Me" },
      workspaces: [{ id: 1, slug: "main", name: "Main", role }],
      has_password: true,
      installation_admin: false,
    });
  }
  if (method === "POST" && url.pathname.endsWith("/test")) {
    return Response.json([{ channel: "webhook", target: "https://example.org/hook", error: null }]);
  }
  if (method !== "GET") {
    return refusal === null ? Response.json(RULE) : Response.json(refusal, { status: 400 });
  }
  if (url.pathname.endsWith("/alert-rules")) return list(rules);
  if (url.pathname.endsWith("/alerts")) return list(alerts);
  return list([]);
}

beforeEach(() => {
  role = "operator";
  alerts = [ALERT];
  rules = [RULE];
  asked = [];
  refusal = null;
  // biome-ignore lint/suspicious/noDocumentCookie: the client reads the token there
  document.cookie = "csrftoken=x";
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    const text = await request.text();
    asked.push({ method: request.method, url, body: text === "" ? null : JSON.parse(text) });
    return answer(url, request.method);
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () => open(<AlertsPage />, "/w/:ws/alerts", "/w/main/alerts");

test("an alert shows its rule, its value and what became of its notifications", async () => {
  show();
  const row = await screen.findByTestId("alert");
  expect(row.textContent).toContain("Orders · prod");
  expect(row.textContent).toContain("Firing");
  expect(row.textContent).toContain("Lag in records above 1,000 records");
  expect(row.textContent).toContain("2,500 records");
  expect(row.textContent).toContain("1 of 2 sent: no such mailbox");
  expect(screen.getByTitle("ops@example.org: no such mailbox")).toBeTruthy();
  expect((await screen.findByTestId("alert-count")).textContent).toBe("1");
  fireEvent.click(screen.getByRole("radio", { name: "Resolved" }));
  await waitFor(() =>
    expect(asked.some(({ url }) => url.searchParams.get("state") === "resolved")).toBe(true),
  );
});

test("an operator makes a rule; what the server refuses stands at its field", async () => {
  show();
  fireEvent.click(await screen.findByTestId("new-rule"));
  fireEvent.change(await screen.findByLabelText(/^Name/), { target: { value: "Late" } });
  fireEvent.change(screen.getByLabelText(/^Above/), { target: { value: "90" } });
  fireEvent.change(screen.getByLabelText(/^Webhook/), { target: { value: "nowhere" } });
  fireEvent.change(screen.getByLabelText(/^Mail/), { target: { value: "a@b.org, c@d.org" } });
  refusal = {
    error: { code: "invalid", message: "Not valid.", fields: { webhook: ["It has no host."] } },
  };
  fireEvent.click(screen.getByTestId("save-rule"));
  expect(await screen.findByText("It has no host.")).toBeTruthy();
  refusal = null;
  fireEvent.click(screen.getByTestId("save-rule"));
  await waitFor(() => expect(screen.queryByTestId("rule-form")).toBeNull());
  expect(asked.filter(({ method }) => method === "POST").at(-1)?.body).toEqual({
    name: "Late",
    topology: null,
    condition: "lag_time",
    threshold: 90,
    for_seconds: 60,
    webhook: "nowhere",
    mail: ["a@b.org", "c@d.org"],
    enabled: true,
  });
});

test("a test shows which receivers accepted it; a rule is deleted after a question", async () => {
  show();
  fireEvent.click(await screen.findByRole("button", { name: "Send a test" }));
  expect((await screen.findByTestId("tested")).textContent).toContain("the test was accepted");
  fireEvent.click(screen.getByTestId("delete-rule"));
  expect(await screen.findByText("The rule “Behind” and its alerts are deleted.")).toBeTruthy();
  expect(asked.some(({ method }) => method === "DELETE")).toBe(false);
  fireEvent.click(screen.getByTestId("delete-rule-now"));
  await waitFor(() => expect(asked.some(({ method }) => method === "DELETE")).toBe(true));
});

test("without the right to change rules there is no button; without alerts and rules there is a text", async () => {
  role = "viewer";
  alerts = [];
  rules = [];
  show();
  expect(await screen.findByText("No alerts")).toBeTruthy();
  expect(await screen.findByText("No rules")).toBeTruthy();
  expect(screen.queryByTestId("new-rule")).toBeNull();
  expect(screen.queryByTestId("alert-count")).toBeNull();
});

test("every condition has words, and a duration where there is one", () => {
  expect(CONDITIONS).toHaveLength(12);
  expect(ruleText({ condition: "failed", threshold: null })).toBe("The deployment failed");
  expect(ruleText({ condition: "silence", threshold: 60, for_seconds: 30 })).toBe(
    "Time without a record above 1 min for 30 s",
  );
});

test("a search that finds nothing says so, and does not explain what alerts and rules are", async () => {
  show();
  await screen.findByTestId("alert-rule");
  await screen.findByTestId("alert");
  alerts = [];
  rules = [];
  fireEvent.change(screen.getByLabelText("Search rules"), { target: { value: "lag" } });
  fireEvent.change(screen.getByLabelText("Search alerts"), { target: { value: "orders" } });
  await screen.findByText("No rule matches “lag”.");
  await screen.findByText("No alert matches “orders”.");
  expect(screen.queryByText("No rules")).toBeNull();
  const searched = asked.filter(({ url }) => url.searchParams.get("search") === "lag");
  expect(searched.map(({ url }) => url.pathname)).toEqual(["/api/workspaces/main/alert-rules"]);
});

test("the name of the account button begins with what it shows", async () => {
  show();
  const button = await screen.findByTestId("user-menu");
  expect(screen.getByRole("button", { name: /^ME\s?Account of Me$/ })).toBe(button);
});
