import { act } from "react";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Deployment, EdgeRecord, EdgeRecords } from "../api/types";
import { useDesigner } from "../designer/store";
import type { TopologyDocument } from "../graph/document";
import { useLive } from "../live/store";
import { render } from "../testing/rendering";
import { aDeployment } from "../testing/samples";
import { RecordsPanel } from "./RecordsPanel";

const EDGE = "in.out>out.in";
const DOCUMENT: TopologyDocument = {
  format: "millrace.topology/1",
  name: "test",
  nodes: [
    { id: "in", kind: "source.stream", label: "Orders", params: { topics: ["orders"] } },
    { id: "out", kind: "sink.topic" },
    { id: "counts", kind: "store.key_value" },
  ],
  edges: [
    { source: "in", target: "out" },
    { source: "counts", target: "out", target_port: "store" },
  ],
};
const RECORD: EdgeRecord = {
  number: 4,
  seen: 1_000,
  key: "a",
  value: { n: 1 },
  timestamp: 6_000,
  headers: {},
  topic: "orders",
  partition: 2,
  offset: 9,
};

/** The server's response; `questions` collects the requests. */
let answer: { status: number; content: unknown };
let questions: string[];
const text = () => document.body.textContent ?? "";

function answers(content: Partial<EdgeRecords>): void {
  answer = { status: 200, content: { sampling: "on", at: 5, records: [], keys: null, ...content } };
}

let close: () => Promise<void>;

async function open(deployment: Deployment | null, edge: string | null = EDGE): Promise<void> {
  useLive.setState({ deployment, connection: "open" });
  useDesigner.setState({
    document: DOCUMENT,
    selection: { nodes: [], edges: edge === null ? [] : [edge] },
  });
  close = await render(
    <MemoryRouter>
      <RecordsPanel ws="main" topology={1} />
    </MemoryRouter>,
  );
}

async function seen(words: string): Promise<void> {
  for (let look = 0; look < 500 && !text().includes(words); look += 1) {
    await act(async () => new Promise<void>((done) => setTimeout(done, 10)));
  }
  expect(text()).toContain(words);
}

const running = () => aDeployment({ observed: "running" });

beforeEach(() => {
  questions = [];
  answers({});
  vi.stubGlobal("fetch", async (request: Request) => {
    questions.push(new URL(request.url).pathname + decodeURIComponent(new URL(request.url).search));
    return new Response(JSON.stringify(answer.content), {
      status: answer.status,
      headers: { "Content-Type": "application/json" },
    });
  });
});

afterEach(async () => {
  await close();
  useLive.getState().reset();
});

test("nothing is requested where nothing runs, or no edge with records is selected", async () => {
  await open(null);
  expect(text()).toContain("Deploy the topology: the records on its edges appear here.");
  await close();
  await open(aDeployment({ observed: "stopped" }));
  expect(text()).toContain("Records appear here while the deployment runs.");
  await close();
  for (const [deployment, edge] of [
    [running(), null],
    [aDeployment({ observed: "asleep" }), null],
    [running(), "counts.out>out.store"],
  ] as const) {
    await open(deployment, edge);
    expect(text()).toContain("Click an edge on the canvas");
    await close();
  }
  expect(questions).toEqual([]);
});

test("records are listed with the input record that caused them, and what is cut says so", async () => {
  const cut = { ...RECORD, number: 5, value: '{"n": [1', value_cut: true, topic: null };
  answers({ records: [{ ...cut, partition: null, offset: null }, RECORD] });
  await open(running());
  await seen("orders-2 @ 9");
  expect(questions[0]).toBe(`/api/deployments/1/records?edge=${EDGE}`);
  const rows = [...document.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("td")].slice(1).map((cell) => cell.textContent),
  );
  expect(rows).toEqual([
    ['"a"', '{"n": [1…', "1970-01-01 00:00:06.000", "–"],
    ['"a"', '{"n":1}', "1970-01-01 00:00:06.000", "orders-2 @ 9"],
  ]);
  const link = document.querySelector("tbody a")?.getAttribute("href");
  expect(link).toBe("/w/main/topics/orders?start=offset&partition=2&offset=9&record=2:9");
});

test.each([
  ["starting", "The driver is starting to sample records…"],
  ["on", "The next records on this edge appear here."],
  ["stopped", "Records appear here while the deployment runs."],
] as const)("where records are not there yet, words say why: %s", async (sampling, words) => {
  answers({ sampling });
  await open(running());
  await seen(words);
});

test("an edge that was drawn after the deployment is marked, and not requested again", async () => {
  answer = { status: 404, content: { error: { code: "no_such_edge", message: "No edge." } } };
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await open(running());
  await seen("Not in the running version");
  await act(async () => vi.advanceTimersByTimeAsync(10_000));
  expect(questions.length).toBe(1);
  vi.useRealTimers();
});

test("a list that is paused stays as it is, and its records are kept no longer", async () => {
  answers({ records: [RECORD] });
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await open(running());
  await seen("orders-2 @ 9");
  await act(async () => vi.advanceTimersByTimeAsync(4_100));
  const asked = questions.length;
  expect(asked).toBeGreaterThanOrEqual(3);
  const pause = document.querySelector<HTMLElement>("[data-testid=pause-records]");
  await act(async () => pause?.click());
  expect(pause?.textContent).toBe("Continue");
  answers({ records: [] });
  await act(async () => vi.advanceTimersByTimeAsync(10_000));
  expect(questions.length).toBe(asked);
  expect(text()).toContain("orders-2 @ 9");
  vi.useRealTimers();
});

test("records are copied as JSON, whole", async () => {
  answers({ records: [RECORD] });
  const copied = vi.fn(async (_: string) => undefined);
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: copied } });
  await open(running());
  await seen("orders-2 @ 9");
  const button = [...document.querySelectorAll("button")].find(
    (each) => each.textContent === "Copy as JSON",
  );
  await act(async () => button?.click());
  expect(JSON.parse(copied.mock.calls[0]?.[0] ?? "")).toEqual([RECORD]);
  vi.unstubAllGlobals();
});

test("the hottest keys and the skew among tasks are shown beside the records", async () => {
  const top = [
    { key: '"tea"', records: 75 },
    { key: '"rice"', records: 25 },
  ];
  const tasks = [
    { task: "1_0", records: 90 },
    { task: "1_1", records: 30 },
  ];
  const keys = { since: Date.now(), records: 100, sampled: 40, top, tasks, skew: 1.5 };
  answers({ records: [RECORD], keys });
  await open(running());
  await seen("orders-2");
  const button = [...document.querySelectorAll("button")].find(
    (each) => each.textContent === "Keys",
  );
  await act(async () => button?.click());
  expect(text()).toContain("the keys of 40 were read");
  expect(text()).toContain("Skew 1.5");
  expect(text()).toContain('"tea"7575 %');
  expect(text()).toContain("1_13025 %");
  expect(text()).not.toContain("orders-2");
});
