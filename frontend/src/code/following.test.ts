import { expect, test } from "vitest";
import type { TopologyDocument } from "../graph/document";
import { follow, followReading, hunks, mapOf, sameMeaning, withoutPlace } from "./following";

const lines = (...each: string[]) => each.join("\n");

test("a program keeps its comments when another line changes", () => {
  const base = lines("a = 1", "b = 2", "c = 3");
  const mine = lines("# mine", "a = 1", "b = 2  # two", "# last", "c = 3");
  const theirs = lines("a = 1", "b = 2", "c = 4", "d = 5");
  expect(follow(base, mine, theirs)).toEqual({
    text: lines("# mine", "a = 1", "b = 2  # two", "# last", "c = 4", "d = 5"),
    replaced: false,
  });
});

test("where both changed a line, the drawing's line counts, and that is reported", () => {
  const base = lines("a = 1", "b = 2");
  expect(follow(base, lines("# kept", "a = 1", "b = 9"), lines("a = 1", "b = 3"))).toEqual({
    text: lines("# kept", "a = 1", "b = 3"),
    replaced: true,
  });
});

test("texts with more different lines than characters are one difference", () => {
  const before = Array.from({ length: 60_000 }, (_, index) => `${index}`);
  expect(hunks(before, ["x"])).toEqual([{ from: 0, to: 60_000, start: 0, end: 1 }]);
});

test("the source map moves with the lines that are typed above", () => {
  const map = [
    { node: "a", path: "job.py", start: 1, end: 1 },
    { node: "b", path: "job.py", start: 2, end: 3 },
  ];
  const base = lines("a", "b", ")");
  expect(mapOf(map, base, lines("#", "a", "b", ")"))).toEqual([
    { node: "a", path: "job.py", start: 2, end: 2 },
    { node: "b", path: "job.py", start: 3, end: 4 },
  ]);
  expect(mapOf(map, base, lines("a", "b", "new", ")"))[1]).toMatchObject({ start: 2, end: 4 });
});

function document(nodes: TopologyDocument["nodes"], edges: TopologyDocument["edges"] = []) {
  return { format: "millrace.topology/1", name: "t", nodes, edges } as TopologyDocument;
}

test("only what changed in the program changes on the canvas", () => {
  const read = { id: "f", kind: "stateless.filter", params: { predicate: "a" } };
  const canvas = {
    ...document([
      { ...read, params: { predicate: "a", on_error: "drop" }, position: { x: 7, y: 8 } },
      { id: "drawn", kind: "sink.topic" },
    ]),
    drawing: { groups: [{ id: "g", title: "G", nodes: ["f"] }] },
  } as TopologyDocument;
  const before = document([read]);
  const after = document([{ ...read, params: { predicate: "b" } }]);
  expect(followReading(canvas, before, after)).toEqual({
    document: {
      ...canvas,
      nodes: [
        { ...canvas.nodes[0], params: { predicate: "b", on_error: "drop" } },
        canvas.nodes[1],
      ],
    },
    unplaced: [],
  });
});

test("a node with another name takes the place and the group of the one it replaces", () => {
  const canvas = {
    ...document([{ id: "old", kind: "sink.topic", position: { x: 1, y: 2 } }]),
    drawing: { groups: [{ id: "g", title: "G", nodes: ["old"] }] },
  } as TopologyDocument;
  const followed = followReading(
    canvas,
    document([{ id: "old", kind: "sink.topic" }]),
    document([
      { id: "new", kind: "sink.topic" },
      { id: "more", kind: "sink.topic" },
    ]),
  );
  expect(followed.document.nodes).toEqual([
    { id: "new", kind: "sink.topic", position: { x: 1, y: 2 } },
    { id: "more", kind: "sink.topic" },
  ]);
  expect(followed.document.drawing?.groups?.[0]?.nodes).toEqual(["new"]);
  expect(followed.unplaced).toEqual(["more"]);
});

test("readings have the same meaning in any order of nodes and edges, not with another setting", () => {
  const [a, b] = [
    { id: "a", kind: "source.stream", params: { topics: ["t"] } },
    { id: "b", kind: "sink.topic", params: { topic: "u" } },
  ];
  const edges = [{ source: "a", target: "b" }];
  expect(sameMeaning(document([a, b], edges), document([b, a], edges))).toBe(true);
  expect(sameMeaning(document([a, b], edges), document([a, b]))).toBe(false);
  const other = { ...b, params: { topic: "v" } };
  expect(sameMeaning(document([a, b], edges), document([a, other], edges))).toBe(false);
});

const inner = (predicate: string) => ({
  nodes: [
    { id: "in", kind: "fragment.input" },
    { id: "large", kind: "filter", params: { predicate } },
    { id: "out", kind: "fragment.output" },
  ],
  edges: [{ source: "in", target: "large" }],
});
const using = (reference: string, predicate: string) =>
  ({
    ...document([{ id: "clean", kind: "fragment", params: { fragment: reference } }]),
    fragments: { [reference]: inner(predicate) },
  }) as TopologyDocument;

test("a definition changes as its function, and its nodes keep their places, also in a new version", () => {
  const places = inner("n > 1").nodes.map((node, x) => ({ ...node, position: { x, y: 0 } }));
  const canvas = {
    ...using("Clean@2", "n > 1"),
    fragments: { "Clean@2": { ...inner("n > 1"), nodes: places } },
  } as TopologyDocument;
  const changed = places.map((node) =>
    node.id === "large" ? { ...node, params: { predicate: "n > 7" } } : node,
  );
  for (const reference of ["Clean@2", "Clean@3"]) {
    const after = using(reference, "n > 7");
    const { document: made } = followReading(canvas, using("Clean@2", "n > 1"), after);
    expect(made.nodes).toEqual(after.nodes);
    expect(Object.keys(made.fragments ?? {})).toEqual([reference]);
    expect(made.fragments?.[reference]).toMatchObject({ nodes: changed });
  }
  const none = followReading(canvas, using("Clean@2", "n > 1"), document([]));
  expect(none.document).not.toHaveProperty("fragments");
});

test("nodes that are written out for a fragment cannot be changed in the program", () => {
  const source = { id: "orders", kind: "source.stream" };
  const canvas = { ...using("Clean@2", "n > 1") };
  const large = { id: "clean--large", kind: "filter", params: { predicate: "n > 1" } };
  const before = document([source, large], [{ source: "orders", target: "clean--large" }]);
  const more = document([...before.nodes, { id: "more", kind: "sink.topic" }], before.edges);
  expect(withoutPlace(canvas, before, more)).toBeUndefined();
  const joined = document(more.nodes, [...before.edges, { source: large.id, target: "more" }]);
  expect(withoutPlace(canvas, before, joined)).toBe(large.id);
  const other = { ...large, params: { predicate: "n > 2" } };
  expect(withoutPlace(canvas, before, document([source, other], before.edges))).toBe(large.id);
});
