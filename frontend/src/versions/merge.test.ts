import { expect, test } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { aDocument } from "../testing/samples";
import { differences, merged } from "./merge";

const base = aDocument();

function edited(change: (nodes: TopologyDocument["nodes"]) => TopologyDocument["nodes"]) {
  return { ...base, nodes: change(base.nodes) };
}

const withParams = (id: string, params: Record<string, string>) =>
  edited((nodes) => nodes.map((node) => (node.id === id ? { ...node, params } : node)));

test("what only one side changed needs no decision", () => {
  const mine = withParams("lines", { topic: "a" });
  const theirs = withParams("out", { topic: "b" });
  const found = differences(base, mine, theirs);
  expect(found.map((each) => [each.id, each.conflict, each.proposed])).toEqual([
    ["lines", false, "mine"],
    ["out", false, "theirs"],
  ]);
  const joined = merged(base, mine, theirs, new Map());
  expect(joined.nodes.find((node) => node.id === "lines")?.params).toEqual({ topic: "a" });
  expect(joined.nodes.find((node) => node.id === "out")?.params).toEqual({ topic: "b" });
});

test("what both changed differently is a conflict that the choice decides", () => {
  const mine = withParams("out", { topic: "a" });
  const theirs = withParams("out", { topic: "b" });
  expect(differences(base, mine, theirs)).toMatchObject([{ id: "out", conflict: true }]);
  const joined = merged(base, mine, theirs, new Map([["out", "theirs"]]));
  expect(joined.nodes.find((node) => node.id === "out")?.params).toEqual({ topic: "b" });
});

test("a node that was only moved is no difference", () => {
  const mine = edited((nodes) => nodes.map((node) => ({ ...node, position: { x: 9, y: 9 } })));
  expect(differences(base, mine, base)).toEqual([]);
});

test("the order of fields is no difference", () => {
  const theirs = edited((nodes) =>
    nodes
      .map((node) => ({
        params: node.params ?? {},
        kind: node.kind,
        id: node.id,
        label: node.label ?? "",
      }))
      .map(({ label, ...node }) => (label === "" ? node : { ...node, label })),
  );
  expect(differences(base, base, theirs)).toEqual([]);
});

test("an edge that one side added stays, one that the other removed goes, none hangs in the air", () => {
  const mine: TopologyDocument = {
    ...base,
    nodes: [...base.nodes, { id: "big", kind: "filter", params: {} }],
    edges: [...base.edges, { source: "lines", target: "big" }],
  };
  const theirs: TopologyDocument = {
    ...base,
    nodes: base.nodes.filter((node) => node.id !== "out"),
    edges: base.edges.filter((edge) => edge.target !== "out"),
  };
  const joined = merged(base, mine, theirs, new Map());
  expect(joined.nodes.map((node) => node.id)).toEqual(["lines", "count", "counts", "big"]);
  expect(joined.edges.map((edge) => edge.target)).toEqual(["count", "count", "big"]);
});

test("parameters of one side stay, and the fragments that the merged nodes use", () => {
  const definition = { nodes: [{ id: "in", kind: "fragment.input", params: {} }], edges: [] };
  const node = { id: "clean", kind: "fragment", params: { fragment: "Clean@2" } };
  const mine = {
    ...edited((nodes) => [...nodes, node]),
    parameters: { low: { type: "number" as const, default: 1 } },
    fragments: { "Clean@1": definition, "Clean@2": definition },
  };
  const joined = merged(base, mine, withParams("lines", { topic: "a" }), new Map());
  expect(joined.parameters).toEqual(mine.parameters);
  expect(Object.keys(joined.fragments ?? {})).toEqual(["Clean@2"]);
});

test("what both sides drew is kept: notes and groups with the same number, moves and bends", () => {
  const [first, second] = base.nodes.map((node) => node.id);
  const old: TopologyDocument = {
    ...base,
    drawing: { notes: [{ id: "note-1", text: "both" }] },
  };
  const mine: TopologyDocument = {
    ...old,
    drawing: {
      notes: [
        { id: "note-1", text: "both" },
        { id: "note-2", text: "mine" },
      ],
      groups: [{ id: "group-1", nodes: [first ?? ""] }],
    },
  };
  const theirs: TopologyDocument = {
    ...old,
    nodes: old.nodes.map((node) => ({ ...node, position: { x: 8, y: 16 } })),
    drawing: {
      notes: [
        { id: "note-1", text: "changed" },
        { id: "note-2", text: "theirs" },
      ],
      groups: [{ id: "group-1", nodes: [second ?? ""] }],
      muted: [second ?? ""],
    },
  };
  const { drawing, nodes } = merged(old, mine, theirs, new Map());
  expect(drawing).toEqual({
    groups: [
      { id: "group-1", nodes: [first] },
      { id: "group-2", nodes: [second] },
    ],
    notes: [
      { id: "note-1", text: "changed" },
      { id: "note-2", text: "mine" },
      { id: "note-3", text: "theirs" },
    ],
    muted: [second],
  });
  expect(nodes.every((node) => node.position?.x === 8)).toBe(true);
  const removed = merged(mine, { ...mine, drawing: { groups: [] } } as never, mine, new Map());
  expect(removed.drawing?.notes ?? []).toEqual([]);
});
