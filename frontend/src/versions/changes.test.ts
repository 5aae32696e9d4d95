import { expect, test } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { aDocument } from "../testing/samples";
import { changesBetween } from "./changes";

const base = aDocument();

const changed = (change: Partial<TopologyDocument>): TopologyDocument => ({ ...base, ...change });

test("a version is described by the nodes that came, went and changed", () => {
  const after = changed({
    nodes: [
      ...base.nodes
        .filter((node) => node.id !== "out")
        .map((node) => (node.id === "count" ? { ...node, params: { window: {} } } : node)),
      { id: "big", kind: "filter", label: "Big", params: {} },
    ],
  });
  const count = base.nodes.find((node) => node.id === "count")?.label ?? "count";
  expect(changesBetween(base, after)).toBe(`added Big; removed out; changed ${count}`);
});

test("wires, settings and descriptions are changes as well, and a move is one where nothing else is", () => {
  expect(changesBetween(base, changed({ edges: base.edges.slice(1) }))).toBe("changed 1 edge");
  expect(
    changesBetween(base, changed({ settings: { processing_guarantee: "exactly_once" } })),
  ).toBe("changed settings");
  expect(changesBetween(base, changed({ description: "What it is for" }))).toBe(
    "changed the description",
  );
  const program = { "job.py": "# why" };
  expect(changesBetween(base, changed({ drawing: { program } }))).toBe(
    "changed the text of the program",
  );
  expect(changesBetween(base, changed({ drawing: { muted: ["big"] } }))).toBe(
    "changed groups, notes or pinned records",
  );
  const moved = base.nodes.map((node) => ({ ...node, position: { x: 7, y: 7 } }));
  expect(changesBetween(base, changed({ nodes: moved }))).toBe("moved nodes");
  expect(changesBetween(base, base)).toBe("");
});

test("the first version is described by what was drawn", () => {
  const one = changed({
    nodes: [{ id: "big", kind: "filter", label: "Big", params: {} }],
    edges: [],
  });
  expect(changesBetween(null, one)).toBe("added Big");
});
