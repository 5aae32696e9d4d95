import { expect, test } from "vitest";
import type { Diagnostic } from "../api/types";
import { aDocument } from "../testing/samples";
import { byNode, hasSink } from "./groups";

const problem = (node: string | null, severity: Diagnostic["severity"], message: string) => ({
  code: "x",
  severity,
  node,
  parameter: null,
  message,
  path: null,
  hint: "",
  facts: {},
  position: null,
  blocks: null,
});

test("problems stand by node in the drawing's order, errors first, the topology's own last", () => {
  const groups = byNode(
    [
      problem(null, "error", "no sink"),
      problem("out", "error", "no topic"),
      problem("lines", "warning", "no such topic"),
      problem("lines", "error", "no format"),
    ],
    aDocument(),
  );
  expect(
    groups.map((group) => [group.node, group.diagnostics.map((each) => each.message)]),
  ).toEqual([
    ["lines", ["no format", "no such topic"]],
    ["out", ["no topic"]],
    [null, ["no sink"]],
  ]);
});

test("a topology that compiles without a sink is not called ready", () => {
  const whole = aDocument();
  const open = { ...whole, nodes: whole.nodes.filter((node) => !node.kind.startsWith("sink.")) };
  expect([hasSink(whole), hasSink(open)]).toEqual([true, false]);
  const node = { id: "f", kind: "fragment", params: { fragment: "F@1" } };
  const used = { ...open, nodes: [...open.nodes, node] };
  const sink = { id: "s", kind: "sink.topic" };
  const fragments = (nodes: object[]) => ({ "F@1": { nodes, edges: [] } }) as never;
  expect(hasSink({ ...used, fragments: fragments([sink]) })).toBe(true);
  expect(hasSink({ ...used, fragments: fragments([{ id: "o", kind: "peek" }]) })).toBe(false);
  const fragment = { ...open, nodes: [...open.nodes, { id: "o", kind: "fragment.output" }] };
  expect(hasSink(fragment)).toBe(true);
});
