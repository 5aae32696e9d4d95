// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SimulationStep } from "../api/types";
import { breakpointsIn, codeOf, useBreakpoints } from "../designer/breakpoints";
import { useDesigner } from "../designer/store";
import type { TopologyDocument } from "../graph/document";
import { moved } from "./moves";
import { isStop, printedAt, storesAt, writesOf } from "./steps";
import { type Shown, useSimulation } from "./store";

const CODE = "class P(Processor):\n    def process(self, record):\n        print(record)\n";
const DOCUMENT: TopologyDocument = {
  format: "millrace.topology/1",
  name: "stops",
  nodes: [
    { id: "in", kind: "source.stream", params: {} },
    { id: "step", kind: "process", params: { code: CODE } },
  ],
  edges: [{ source: "in", target: "step" }],
};

function step(seq: number, event: string, more: Partial<SimulationStep> = {}): SimulationStep {
  return { seq, event, node: "step", after: 1, parent: 0, ...more } as SimulationStep;
}

const row = { key: "k", value: 1, timestamp: 5 };
const STEPS = [
  step(0, "record", { parent: null }),
  step(1, "log", { level: "info", message: "first" }),
  step(2, "stop", { line: 3, function: "P.process", locals: [{ name: "n", value: "1" }] }),
  step(3, "store", { store: "counts", row }),
  step(4, "log", { level: "info", message: "second" }),
  step(5, "record", { parent: null, after: 2 }),
];
const SHOWN = {
  document: DOCUMENT,
  lines: [],
  seconds: 0,
  result: { steps: STEPS },
} as unknown as Shown;

beforeEach(() => {
  useDesigner.setState({ topologyId: 7, document: DOCUMENT });
  useSimulation.setState({ shown: SHOWN, view: "steps" });
});

afterEach(() => {
  localStorage.clear();
  useSimulation.setState({ shown: null, view: "inputs" });
  useDesigner.setState({ topologyId: null });
});

test("a stop is a step of its own, forward and back; a printed line is not", () => {
  expect(STEPS.filter(isStop).map(({ seq }) => seq)).toEqual([0, 2, 5]);
  expect(moved(SHOWN, 0, "next")).toBe(2);
  expect(moved(SHOWN, 5, "back")).toBe(2);
  expect(storesAt(STEPS, 0).size).toBe(0);
  // Writes of later lines are not in the store yet.
  expect(storesAt(STEPS, 2).size).toBe(0);
  expect(writesOf(STEPS, 2).size).toBe(0);
  expect(storesAt(STEPS, 5).get("counts")).toEqual([row]);
});

test("a record's step has all lines printed for it, a stop those before it", () => {
  const messages = (index: number) => printedAt(STEPS, index).map(({ message }) => message);
  expect(messages(0)).toEqual(["first", "second"]);
  expect(messages(2)).toEqual(["first"]);
  expect(messages(5)).toEqual([]);
});

test("breakpoints in modules and handlers go with the run while the document has their code", () => {
  const { setLines } = useBreakpoints.getState();
  setLines("settings.modules.prices.discount", [2]);
  setLines("settings.processing_function", [1]);
  const settings = {
    modules: { "prices.discount": "def reduced(n):\n    return n / 2\n" },
    processing_handler: "function",
    processing_function: "def handle(record, error):\n    return Response.resume()\n",
  };
  const document = { ...DOCUMENT, settings } as unknown as TopologyDocument;
  useDesigner.setState({ document });
  expect(breakpointsIn(document)).toEqual({
    "settings.modules.prices.discount": [2],
    "settings.processing_function": [1],
  });
  const without = { ...document, settings: { ...settings, processing_handler: "fail" } };
  useDesigner.setState({ document: without as TopologyDocument });
  expect(Object.keys(breakpointsIn(without as TopologyDocument))).toEqual([
    "settings.modules.prices.discount",
  ]);
  // The node whose record it is stays selected; the line is that of the module.
  const code = "settings.modules.prices.discount";
  const stop = step(0, "stop", { parent: null, line: 2, function: "reduced", locals: [], code });
  useSimulation.setState({
    shown: { ...SHOWN, document: without, result: { steps: [stop] } } as unknown as Shown,
  });
  useSimulation.getState().goTo(0);
  expect(useBreakpoints.getState().stopped).toEqual({ node: code, line: 2 });
  expect(useDesigner.getState().selection.nodes).toEqual(["step"]);
});

test("the line of a stop is shown in the editor of its node, which is selected", () => {
  useSimulation.getState().goTo(2);
  expect(useBreakpoints.getState().stopped).toEqual({ node: "step", line: 3 });
  expect(useDesigner.getState().selection.nodes).toEqual(["step"]);
  useSimulation.getState().goTo(5);
  expect(useBreakpoints.getState().stopped).toBeNull();
  // The line is not shown if the code was changed after the run.
  const nodes = DOCUMENT.nodes.map((each) => ({ ...each, params: { code: "" } }));
  useDesigner.setState({ document: { ...DOCUMENT, nodes } });
  useSimulation.getState().goTo(2);
  expect(useBreakpoints.getState().stopped).toBeNull();
});

test("breakpoints are those of the topology, and are sent for the code that they stand in", () => {
  useBreakpoints.getState().setLines("step", [3]);
  useBreakpoints.getState().setLines("gone", [1]);
  expect(breakpointsIn(DOCUMENT)).toEqual({ step: [3] });
  const [source, processor] = DOCUMENT.nodes;
  const changed = { ...processor, params: { code: "other" } };
  const deployed = { ...DOCUMENT, nodes: [source, changed] } as TopologyDocument;
  expect(breakpointsIn(deployed)).toEqual({});
  useDesigner.setState({ topologyId: 8 });
  expect(useBreakpoints.getState().lines).toEqual({});
  useDesigner.setState({ topologyId: 7 });
  expect(useBreakpoints.getState().lines).toEqual({ step: [3], gone: [1] });
  useBreakpoints.getState().setLines("gone", []);
  expect(useBreakpoints.getState().lines).toEqual({ step: [3] });
});

test("a node's code is also the function of its windows", () => {
  const node = {
    id: "step",
    kind: "count",
    params: { window: { type: "custom", code: "def own" } },
  };
  const document = { ...useDesigner.getState().document, nodes: [node] };
  expect(codeOf(document, "step")).toBe("def own");
});
