import { act } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { DifferenceSearch } from "../api/types";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { emptyDocument } from "../graph/document";
import { useSimulation } from "../simulate/store";
import { render, until } from "../testing/rendering";
import { useEditing } from "../versions/editing";
import { Differing } from "./Differing";

const nothing = {
  found: null,
  line: "**Same results** on 20,000 inputs.",
  inputs: 20_000,
  seconds: 9,
  nodes: 6,
  branches: 8,
  covered: 7,
  missed: { old: ["rare"], new: ["rare"] },
  only_old: [],
  only_new: ["alarms"],
};
const record = { topic: "orders", key: "a", value: { n: 100 }, timestamp: 5 };
const found = {
  inputs: [record],
  topics: ["counts"],
  old: [],
  new: [{ after: 1, topic: "counts", key: "a", value: 1, timestamp: 5 }],
  old_stopped: null,
  new_stopped: null,
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** Answers searches one after another, and records all requests. */
function serve(answers: readonly (DifferenceSearch | Promise<DifferenceSearch>)[]): Call[] {
  const calls: Call[] = [];
  const left = [...answers];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { method } = request;
    const path = new URL(request.url, "http://localhost").pathname;
    const body = method === "POST" ? await request.clone().json() : {};
    calls.push({ method, path, body });
    let answer: unknown = { state: "ready", progress: { done: 1234, lines: 20_000 } };
    if (path.endsWith("/tests")) answer = { count: 1, results: [{ inputs: [record] }] };
    if (path.endsWith("/topics")) answer = [{ name: "prod-orders", partitions: 1 }];
    if (path.endsWith("/samples")) answer = { lines: [], skipped: 0 };
    if (path.endsWith("/differences")) answer = await left.shift();
    if (method === "POST" && path.endsWith("/simulations")) {
      const name = (body.document as { name: string }).name;
      answer = { state: "done", diagnostics: [], plain: null, result: ran(name) };
    }
    if (method === "DELETE") return new Response(null, { status: 204 });
    return new Response(JSON.stringify(answer), {
      headers: { "content-type": "application/json" },
    });
  });
  return calls;
}

/** A run in which the record goes from `in` to `out`; in the new version only. */
function ran(name: string) {
  const step = { after: 1, event: "process", task: "0_0", record: { key: "a", value: 1 } };
  const both = [{ ...step, seq: 0, node: "in", parent: null }];
  const more = [...both, { ...step, seq: 1, node: "out", parent: 0 }];
  return {
    steps: name === "new" ? more : both,
    error: null,
    stopped_after: null,
    truncated: false,
  };
}

afterEach(() => vi.unstubAllGlobals());

const done = (result: DifferenceSearch["result"]): DifferenceSearch => ({
  state: "done",
  diagnostics: [],
  result,
});
const text = () => document.body.textContent ?? "";
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((each) => each.textContent === name);
const click = (name: string) =>
  act(async () => {
    button(name)?.click();
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

async function shown(onOpened = () => {}, environment: string | null = null) {
  useEditing.setState({ ws: "main", topology: 7 });
  useSimulation.setState({ topology: null, rows: [] });
  return render(
    <Differing
      names={["Version 1", "The drawing"]}
      load={async () => ({ old: emptyDocument("old"), new: emptyDocument("new") })}
      environment={environment}
      onOpened={onOpened}
    />,
  );
}

test("a found input is shown with both results, and opened in Simulate", async () => {
  const calls = serve([done({ ...nothing, found })]);
  let opened = 0;
  const close = await shown(() => {
    opened += 1;
  });
  await click("Find an input with different results");
  const { body } = calls.find(({ path }) => path.endsWith("/differences")) ?? {};
  expect(body).toMatchObject({
    old: { name: "old" },
    new: { name: "new" },
    inputs: [[record]],
  });
  expect(text()).toContain("The results differ after 1 record.");
  expect(document.querySelector("[data-testid=difference-old]")?.textContent).toContain("Nothing");
  expect(document.querySelector("[data-testid=difference-new]")?.textContent).toContain(
    "The drawing writes to counts",
  );
  expect(text()).toContain("Only one version writes alarms: not compared.");
  await click("Open in Simulate");
  expect(opened).toBe(1);
  expect(useSimulation.getState().rows.map(({ topic, timestamp }) => [topic, timestamp])).toEqual([
    ["orders", "5"],
  ]);
  expect(useView.getState().bottomTab).toBe("simulate");
  await close();
});

test("a search before a promotion begins with records of the environment's topics", async () => {
  const params = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the document
    topics: ["${orders}", "missing"],
    key: { format: "string" },
    value: { format: "json" },
  };
  useDesigner.setState({
    document: {
      ...emptyDocument("orders"),
      parameters: { orders: { type: "topic", default: "orders", values: { prod: "prod-orders" } } },
      nodes: [{ id: "in", kind: "source.stream", params }],
    },
  });
  const inputs = [{ ...record, topic: "prod-orders" }];
  const calls = serve([done({ ...nothing, found: { ...found, inputs } })]);
  const close = await shown(undefined, "prod");
  await click("Find an input with different results");
  const search = calls.find(({ path }) => path.endsWith("/differences"));
  expect(search?.body.inputs).toEqual([inputs]);
  expect(calls.some(({ path }) => path.includes("/prod-orders/samples"))).toBe(true);
  await click("Open in Simulate");
  expect(useSimulation.getState().rows.map(({ topic }) => topic)).toEqual(["orders"]);
  // A topic that does not exist is not asked for records.
  const sampled = calls.filter(({ path }) => path.endsWith("/samples"));
  expect(sampled.map(({ path }) => path)).toEqual([
    "/api/workspaces/main/topics/prod-orders/samples",
  ]);
  useDesigner.setState({ document: emptyDocument("empty") });
  await close();
});

test("a found input is stepped through in both versions, and the steps of one are marked", async () => {
  serve([done({ ...nothing, found })]);
  const close = await shown();
  await click("Find an input with different results");
  await click("Step through both");
  await until(() => expect(document.querySelector("[data-testid=steps-new]")).not.toBeNull());
  const steps = (side: string, apart = "") =>
    [...document.querySelectorAll(`[data-testid=steps-${side}] li${apart}`)].map(
      (each) => each.querySelector("strong")?.textContent,
    );
  expect(text()).toContain("Record 1 of 1");
  expect([steps("old"), steps("new")]).toEqual([["in"], ["in", "out"]]);
  expect([steps("old", "[data-apart]"), steps("new", "[data-apart]")]).toEqual([[], ["out"]]);
  await click("Close the steps");
  expect(document.querySelector("[data-testid=steps-new]")).toBeNull();
  await close();
});

test("without a difference, the number of inputs and the covered branches are shown", async () => {
  serve([done(nothing)]);
  const close = await shown();
  await click("Find an input with different results");
  expect(text()).toContain("No difference in 20,000 inputs; 87 % of the branches covered.");
  expect(text()).toContain("No record reached rare: add records to Simulate that do.");
  expect(text()).not.toContain("canceled");
  await close();
});

test("a running search shows its progress, and ends with what it has when it is canceled", async () => {
  let answer: (search: DifferenceSearch) => void = () => {};
  const calls = serve([
    new Promise((resolve) => {
      answer = resolve;
    }),
  ]);
  const close = await shown();
  await click("Find an input with different results");
  await until(() => expect(text()).toContain("1,234 inputs tried…"));
  await click("Cancel");
  expect(button("Cancel")?.disabled).toBe(true);
  expect(calls.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  answer(done({ ...nothing, inputs: 1_300 }));
  await until(() => expect(text()).toContain("No difference in 1,300 inputs"));
  expect(text()).toContain("The search was canceled.");
  await close();
});
