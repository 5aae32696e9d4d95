import { expect, test } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { runningVersion } from "./versions";

const node = (id: string, predicate: string, more = {}) => ({
  ...{ id, kind: "filter", params: { predicate } },
  ...more,
});

function document(...nodes: readonly object[]): TopologyDocument {
  return { format: "millrace.topology/1", name: "t", nodes, edges: [] } as never;
}

const summary = {
  keep: { form: "keeps value > 1", values: {} },
  gone: { form: "keeps value > 9", values: {} },
};

test("nodes that differ from the running version have its expression, others are told apart", () => {
  const running = document(node("keep", "value > 1", { label: "Keep" }), node("gone", "value > 9"));
  const drawn = document(node("keep", "value > 2", { label: "Hold" }), node("new", "true"));
  const found = runningVersion(drawn, { version: 3, document: running, summary });
  expect(found).toEqual({
    version: 3,
    changed: { keep: { label: "Keep", summary: summary.keep } },
    drawnOnly: new Set(["new"]),
    runningOnly: ["gone"],
  });
});

test("a node that was only moved is that of the running version", () => {
  const running = document(node("keep", "value > 1"));
  const drawn = document(node("keep", "value > 1", { position: { x: 5, y: 5 } }));
  expect(runningVersion(drawn, { version: 3, document: running, summary })).toBeNull();
});
