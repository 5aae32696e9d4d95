import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OutputComparison, Shadow } from "../api/types";
import { useLive } from "../live/store";
import { render, until } from "../testing/rendering";
import { aDeployment, aStep } from "../testing/samples";
import { useEditing } from "../versions/editing";
import { ShadowDialog } from "./ShadowDialog";
import { useShadowing } from "./steps";

const record = (value: string | null, over = {}) => ({
  partition: 0,
  offset: 1,
  timestamp: 0,
  value,
  headers: [],
  ...over,
});

const comparison = (over: Partial<OutputComparison> = {}): OutputComparison => ({
  state: "done",
  read: 6,
  total: 6,
  started_at: "2026-01-01T09:00:00Z",
  finished_at: "2026-01-01T09:00:01Z",
  error: null,
  running_version: 3,
  shadow_version: 4,
  from_offsets: { orders: { "0": 2 } } as unknown as OutputComparison["from_offsets"],
  to_offsets: { orders: { "0": 1200 } } as unknown as OutputComparison["to_offsets"],
  topics: [
    {
      topic: "sums",
      sinks: ["out"],
      equal: 1204,
      reordered: 2,
      differing: 1,
      only_running: 1,
      only_shadow: 0,
      deleted: 7,
      examples: [
        { kind: "differing", key: "anna", running: record("31"), shadow: record("310") },
        { kind: "only_running", key: null, running: record(null, { offset: 9 }), shadow: null },
      ],
    },
  ],
  ...over,
});

const aShadow = (over: Partial<Shadow> = {}): Shadow => ({
  deployment: {
    id: 9,
    version: 4,
    observed: "running",
    steps: [aStep()],
    failure: null,
    outage: null,
  },
  start: "running",
  suffix: "-shadow-1a2b",
  ending: false,
  reached_at: "2026-01-01T09:00:00Z",
  comparison: null,
  ...over,
});

let shadow: Shadow | null = null;
let sent: { method: string; path: string; body: unknown }[] = [];
let close: () => Promise<void>;

beforeEach(() => {
  sent = [];
  useEditing.setState({ name: "Word count" });
  useLive.setState({ deployment: aDeployment() });
  useShadowing.setState({ open: true });
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname.replace("/api/", "");
    const text = await request.text();
    if (request.method !== "GET") {
      sent.push({ method: request.method, path, body: text === "" ? null : JSON.parse(text) });
    }
    const answer = (body: unknown, status = 200) =>
      new Response(JSON.stringify(body), {
        status,
        headers: { "Content-Type": "application/json" },
      });
    if (path.endsWith("/versions")) {
      const versions = [4, 3].map((number) => ({ number, name: number === 4 ? "fast" : null }));
      return answer({ results: versions, count: 2 });
    }
    if (request.method === "GET" && shadow === null) {
      return new Response(null, { status: 204 });
    }
    return answer(shadow ?? aShadow(), request.method === "POST" ? 201 : 200);
  });
});
afterEach(async () => {
  await close();
  vi.unstubAllGlobals();
});

const find = (id: string) => document.querySelector<HTMLElement>(`[data-testid=${id}]`);
const click = (id: string) => act(async () => find(id)?.click());

async function opened(found: Shadow | null) {
  shadow = found;
  close = await render(<ShadowDialog />);
  await until(() => expect(find("shadow")?.textContent).not.toBe(""));
}

async function choose(id: string, text: string) {
  await click(id);
  await until(() =>
    expect([...document.querySelectorAll("[role=option]")].map((e) => e.textContent)).toContain(
      text,
    ),
  );
  const option = [...document.querySelectorAll<HTMLElement>("[role=option]")].find(
    (each) => each.textContent === text,
  );
  await act(async () => option?.click());
}

test("a version is started beside the one that runs, with its state or from the first records", async () => {
  await opened(null);
  await until(() => expect(find("shadow-create")).not.toBeNull());
  expect((find("shadow-create") as HTMLButtonElement).disabled).toBe(true);
  await choose("shadow-version", "v4 · fast");
  await click("shadow-create");
  expect(sent.at(-1)).toEqual({
    method: "POST",
    path: "deployments/1/shadow",
    body: { version: 4, start: "running" },
  });
  await choose("shadow-start", "Empty stores, at the first records");
  expect(find("shadow")?.textContent).toContain("Takes longer");
  await click("shadow-create");
  expect(sent.at(-1)?.body).toEqual({ version: 4, start: "earliest" });
});

test("outputs can be compared once the shadow has caught up, and that can be cancelled", async () => {
  await opened(aShadow({ reached_at: null }));
  expect((find("shadow-compare") as HTMLButtonElement).disabled).toBe(true);
  await close();
  await opened(aShadow());
  await click("shadow-compare");
  expect(sent.at(-1)?.path).toBe("deployments/1/shadow/comparison");
  await close();
  await opened(aShadow({ comparison: comparison({ state: "reading", read: 2, topics: [] }) }));
  expect(find("shadow-progress")?.textContent).toBe("2 of 6 records read");
  await click("shadow-cancel");
  expect(sent.at(-1)).toMatchObject({ method: "DELETE", path: "deployments/1/shadow/comparison" });
});

test("the result has counts, records that differ, and what could not be compared", async () => {
  await opened(aShadow({ comparison: comparison() }));
  const cells = [...(find("shadow-topic")?.querySelectorAll("td") ?? [])];
  expect(cells.map((each) => each.textContent)).toEqual([
    "sums",
    "1,204 · 2 in another order",
    "1",
    "1",
    "0",
  ]);
  const rows = [...(find("shadow-examples")?.querySelectorAll("tbody tr") ?? [])];
  expect(rows.map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent))).toEqual([
    ["Differs", "anna", "31", "310"],
    ["Only in one", "null", "null", "–"],
  ]);
  expect(find("shadow")?.textContent).toContain("7 records of sums have been deleted");
  const offsets = [...document.querySelectorAll("details td")].map((each) => each.textContent);
  expect(offsets).toEqual(["orders", "0", "2", "1,200"]);
});

test("equal outputs are reported as such, a failed comparison with its reason", async () => {
  const [topic] = comparison().topics;
  const same = { differing: 0, only_running: 0, reordered: 0, examples: [] };
  await opened(
    aShadow({ comparison: comparison({ topics: topic ? [{ ...topic, ...same }] : [] }) }),
  );
  expect(find("shadow-result")?.dataset.different).toBe("false");
  await close();
  await opened(aShadow({ comparison: comparison({ state: "failed", error: "Kafka is away." }) }));
  expect(find("shadow")?.textContent).toContain("Kafka is away.");
});

test("ending deletes only after the name was typed", async () => {
  await opened(aShadow());
  await click("shadow-end");
  const input = find("confirm-name")?.closest("form")?.querySelector("input");
  const type = (text: string) =>
    act(async () => {
      const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      set?.call(input, text);
      input?.dispatchEvent(new Event("input", { bubbles: true }));
    });
  await type("Word");
  expect((find("confirm-delete") as HTMLButtonElement).disabled).toBe(true);
  await type("Word count");
  await click("confirm-delete");
  expect(sent.at(-1)).toEqual({
    method: "POST",
    path: "deployments/1/shadow/end",
    body: { name: "Word count" },
  });
});
