import { expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { cutPorts, fragmentOf, replaced } from "../graph/fragmentChanges";
import { expanded } from "../graph/opening";
import { placeOf } from "../graph/parameters";
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

/** Makes a fragment of the nodes `keep` and `more`. */
function withFragment(before: TopologyDocument): TopologyDocument {
  const chosen = new Set(["keep", "more"]);
  const ports = cutPorts(before, chosen, {}) ?? [];
  const names = ["in", "out"];
  const fragment = fragmentOf(before, CATALOG, chosen, "Clean", ports, names);
  return replaced(before, CATALOG, chosen, ports, names, "Clean@1", fragment).document;
}

test("nodes that were moved into a fragment, or out of one, are not different", () => {
  const running: TopologyDocument = {
    ...emptyDocument("t"),
    parameters: { low: { type: "number", default: 1 } },
    nodes: [
      { id: "orders", kind: "source.stream", params: { topics: ["orders"] } },
      {
        id: "keep",
        kind: "filter",
        label: "Keep",
        params: { predicate: `value > ${placeOf("low")}` },
      },
      { id: "more", kind: "filter", params: { predicate: "value > 2" } },
      { id: "seen", kind: "sink.topic", params: { topic: "seen" } },
    ],
    edges: [
      { source: "orders", target: "keep" },
      { source: "keep", target: "more" },
      { source: "more", target: "seen" },
    ],
  };
  const drawn = withFragment(running);
  expect(drawn.nodes.map(({ kind }) => kind)).toContain("fragment");
  const version = { version: 3, document: running, summary };
  expect(runningVersion(drawn, version, expanded)).toBeNull();
  expect(runningVersion(running, { ...version, document: drawn }, expanded)).toBeNull();
  const nodes = running.nodes.map((each) =>
    each.id === "keep" ? { ...each, params: { predicate: "value > 5" } } : each,
  );
  const changed = withFragment({ ...running, nodes });
  expect(runningVersion(changed, version, expanded)).toEqual({
    version: 3,
    changed: { keep: { label: "Keep", summary: summary.keep } },
    drawnOnly: new Set(),
    runningOnly: [],
  });
});
