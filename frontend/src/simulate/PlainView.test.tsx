import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PlainSimulation } from "../api/types";
import { useDesigner } from "../designer/store";
import { open } from "../testing/rendering";
import { PlainView } from "./PlainView";
import { codesInUse, groupOf, totals } from "./plain";
import { type Shown, useSimulation } from "./store";

const simulate = vi.fn();
let progress: { done: number; lines: number } | null = null;
vi.mock("../api/compileCalls", () => ({
  simulate: (...given: unknown[]) => simulate(...given),
  prepareSimulator: async () => ({ state: "ready", progress }),
  cancelSimulation: async () => undefined,
}));

const text = { format: "string" };
const DOCUMENT = {
  format: "millrace.topology/1" as const,
  name: "test",
  nodes: [
    { id: "in", kind: "source.stream", params: { topics: ["in"], key: text, value: text } },
    { id: "counted", kind: "count", label: "Counted", params: {} },
    { id: "sink", kind: "sink.topic", params: { topic: "out" } },
  ],
  edges: [],
};

const output = (key: string, value: number, after: number, timestamp: number) => ({
  ...{ topic: "out", key, value, after, timestamp },
});
const difference = (code: string, node: string, message: string) => ({
  ...{ code, node, message, severity: "difference", hint: "What helps.", parameter: null },
  ...{ path: null, blocks: null, position: null },
});

const ROWS = [
  {
    kafka_streams: output("a", 1, 1, 5),
    spark: null,
    differs: ["missing"],
    codes: ["plain_updates"],
  },
  {
    kafka_streams: output("a", 2, 1, 6),
    spark: output("a", 2, 1, 0),
    ...{ differs: ["timestamp"], codes: ["plain_sink_timestamp"] },
  },
  {
    kafka_streams: output("b", 3, 2, 7),
    spark: output("b", 4, 2, 0),
    ...{ differs: ["value", "timestamp"], codes: ["plain_late", "plain_sink_timestamp"] },
  },
  { kafka_streams: null, spark: output("c", 9, 4, 0), differs: ["extra"], codes: ["plain_late"] },
].map((row) => ({ ...row, explained: true }));

const PLAIN = {
  cut: "each",
  diagnostics: [
    difference("plain_headers", "counted", "Results have no headers."),
    difference("plain_late", "counted", "Late records are detected by the watermark."),
    difference("plain_updates", "counted", "Each micro-batch emits the last result of a key."),
    difference("plain_sink_timestamp", "sink", "Records have the time of writing."),
    difference("plain_drops", "in", "Records with a null key are dropped."),
  ],
  comparison: {
    verdict: "predicted",
    unexplained: [],
    topics: [
      {
        topic: "out",
        sinks: ["sink"],
        counts: { equal: 0, time: 1, different: 1, kafka_streams: 1, spark: 1 },
        rows: ROWS,
      },
    ],
    dropped: { kafka_streams: 3, spark: 0, codes: ["plain_drops"] },
    stopped: { kafka_streams: null, spark: null },
    seconds: 4.26,
  },
} as unknown as PlainSimulation;
const COMPARISON = PLAIN.comparison as NonNullable<PlainSimulation["comparison"]>;

function show(
  plain: PlainSimulation | null,
  more: Partial<ReturnType<typeof useSimulation.getState>> = {},
) {
  useDesigner.setState({ document: DOCUMENT as never });
  const shown = { document: DOCUMENT, lines: [], seconds: 1, result: { steps: [] }, plain };
  useSimulation.setState({ phase: "idle", shown: shown as unknown as Shown, ...more });
  open(<PlainView ws="main" />);
}

beforeEach(() => {
  simulate.mockReset();
  progress = null;
});
afterEach(() => {
  cleanup();
  useSimulation.setState({ phase: "idle", shown: null, rows: [], view: "inputs", cut: "each" });
});

test("codes are numbered by the records that they explain, with their nodes", () => {
  const codes = codesInUse(PLAIN);
  expect(codes.map((each) => [each.number, each.code, each.records, each.dropped])).toEqual([
    [1, "plain_late", 2, false],
    [2, "plain_sink_timestamp", 2, false],
    [3, "plain_updates", 1, false],
    [4, "plain_drops", 0, true],
    [5, "plain_headers", 0, false],
  ]);
  expect(ROWS.map((row) => groupOf(row as never))).toEqual([
    ...["kafka_streams", "time", "different", "spark"],
  ]);
  expect(totals(COMPARISON)).toEqual(COMPARISON.topics[0]?.counts);
});

test("both sides stand beside each other, and each difference has the number of its sentence", () => {
  show(PLAIN);
  expect(screen.getByTestId("plain-verdict").textContent).toBe(
    "1 of 4 records are the same in plain Spark. Each difference was predicted.",
  );
  const rows = screen.getAllByTestId("plain-row");
  expect(
    rows.map((row) => [...row.querySelectorAll("td")].map((each) => each.textContent)),
  ).toEqual([
    ["1", '"a"', "1", "1970-01-01 00:00:00.005", "", "not written", "3"],
    ["1", '"a"', "2", "1970-01-01 00:00:00.006", "", "2", "2"],
    ["2", '"b"', "3", "1970-01-01 00:00:00.007", "", "4", "12another value"],
    ["4", '"c"', "not written", "", "", "9", "1"],
  ]);
  expect(screen.getByText("Dropped records: Kafka Streams counts 3, plain Spark 0.")).toBeTruthy();
  fireEvent.click(screen.getByRole("switch", { name: "Differences only" }));
  expect(screen.getAllByTestId("plain-row")).toHaveLength(3);
});

test("a click on a code selects its node and marks its records", () => {
  show(PLAIN);
  fireEvent.click(screen.getByText("Late records are detected by the watermark."));
  expect(useDesigner.getState().selection.nodes).toEqual(["counted"]);
  const marked = () => screen.getAllByTestId("plain-row").map((row) => "marked" in row.dataset);
  expect(marked()).toEqual([false, false, true, true]);
  const first = screen.getAllByTestId("plain-row")[1] as HTMLElement;
  fireEvent.click(within(first).getByRole("button", { name: "plain_sink_timestamp" }));
  expect(useDesigner.getState().selection.nodes).toEqual(["sink"]);
  expect(marked()).toEqual([false, true, true, false]);
});

const UNEXPLAINED = {
  ...{ code: "record_differs", message: "out[0]: expected 1, got 2" },
  facts: { topic: "out", place: "0", expected: "1", found: "2" },
};

test("a difference without a code is shown as a fault", () => {
  const wrong = {
    ...PLAIN,
    comparison: {
      ...COMPARISON,
      ...{ verdict: "wrong", unexplained: [UNEXPLAINED] },
      topics: COMPARISON.topics.map((topic) => ({
        ...topic,
        rows: topic.rows.map((row) => ({ ...row, codes: [], explained: false })),
      })),
    },
  } as PlainSimulation;
  show(wrong);
  expect(screen.getByTestId("plain-verdict").textContent).toContain("a bug in Millrace");
  expect(screen.getByText("out[0]: expected 1, got 2")).toBeTruthy();
  expect(screen.getAllByText("Not predicted")).toHaveLength(4);
});

test("a refused topology shows the reasons at its nodes, and a click goes there", () => {
  const refusal = {
    ...difference("plain_kind", "counted", "Plain Spark has no operator for this."),
    severity: "error",
  };
  show({ ...PLAIN, comparison: null, diagnostics: [refusal] } as unknown as PlainSimulation);
  const refused = screen.getByTestId("plain-refused");
  expect(within(refused).getByText("Counted")).toBeTruthy();
  fireEvent.click(within(refused).getByText("Plain Spark has no operator for this."));
  expect(useDesigner.getState().selection.nodes).toEqual(["counted"]);
});

test("a run in plain Spark has the chosen micro-batches and shows its progress", async () => {
  let end = (_: unknown) => {};
  simulate.mockImplementation(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  progress = { done: 3, lines: 9 };
  const row = {
    id: 1,
    topic: "in",
    key: "a",
    value: "b",
    timestamp: "1",
    partition: "",
    headers: "",
  };
  show(null, { rows: [row], view: "plain" });
  fireEvent.click(screen.getByRole("radio", { name: "As few as possible" }));
  fireEvent.click(screen.getByRole("button", { name: "Run in plain Spark" }));
  expect(await screen.findByText("Plain Spark: 3 of 9 records")).toBeTruthy();
  expect(simulate.mock.calls[0]?.at(-1)).toMatchObject({ plain: "all" });
  const result = { steps: [], edges: [], outputs: [], output_count: 0, dropped: 0, error: null };
  end({ state: "done", diagnostics: [], result, plain: PLAIN });
  expect(await screen.findByTestId("plain-comparison")).toBeTruthy();
  // A run without a comparison, such as an automatic one, keeps the earlier comparison and marks it as such.
  expect(screen.queryByTestId("plain-former")).toBeNull();
  void useSimulation.getState().run("main");
  expect(screen.getByTestId("plain-comparison")).toBeTruthy();
  end({ state: "done", diagnostics: [], result, plain: null });
  const former = await screen.findByTestId("plain-former");
  expect(screen.getByTestId("plain-comparison")).toBeTruthy();
  fireEvent.click(within(former).getByRole("button", { name: "Compare again" }));
  end({ state: "done", diagnostics: [], result, plain: PLAIN });
  await waitFor(() => expect(screen.queryByTestId("plain-former")).toBeNull());
}, 10_000);
