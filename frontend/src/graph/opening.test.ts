import { expect, test } from "vitest";
import { CATALOG as catalog } from "../commands/kit";
import { edgeId, emptyDocument, findNode, positionOf, type TopologyDocument } from "./document";
import { type Folds, folded, idWithin, NO_FOLDS, noteBox } from "./drawing";
import { dissolved } from "./fragmentChanges";
import { boxOf, overlap } from "./geometry";
import { draw, edgesThatRun } from "./opening";
import { placeOf as parameter } from "./parameters";
import { ways } from "./routing";

const at = (x: number, y: number) => ({ position: { x, y } });
const inner = [
  { id: "in", kind: "fragment.input" },
  {
    id: "keep",
    kind: "filter",
    ...at(0, 100),
    params: { predicate: `value.n > ${parameter("low")}` },
  },
  { id: "count", kind: "count", ...at(280, 100) },
  { id: "rows", kind: "store.key_value", ...at(330, 220) },
  { id: "seen", kind: "peek", ...at(280, -40) },
  { id: "out", kind: "fragment.output" },
];
const document: TopologyDocument = {
  ...emptyDocument("orders"),
  nodes: [
    { id: "orders", kind: "source.stream", ...at(0, 0) },
    {
      id: "clean",
      kind: "fragment",
      ...at(280, 0),
      params: { fragment: "Clean@1", arguments: { low: 5 }, identities: { count: "counted" } },
    },
    { id: "out", kind: "sink.topic", ...at(560, 0) },
    { id: "above", kind: "filter", ...at(300, -120) },
    { id: "below", kind: "filter", ...at(300, 120) },
  ],
  edges: [
    { source: "orders", target: "clean" },
    { source: "clean", target: "out" },
  ],
  fragments: {
    "Clean@1": {
      parameters: { low: { type: "number", default: 10 } },
      nodes: inner,
      edges: [
        { source: "in", target: "keep" },
        { source: "in", target: "seen" },
        { source: "keep", target: "count" },
        { source: "rows", target: "count", target_port: "store" },
        { source: "count", target: "out" },
      ],
    },
  },
} as unknown as TopologyDocument;

const placeOf = (drawn: TopologyDocument, id: string) => {
  const node = findNode(drawn, id);
  return node === undefined ? undefined : positionOf(node);
};

test("an opened fragment is drawn under the ids with which its nodes run, in one line", () => {
  const drawn = draw(document, catalog, NO_FOLDS, ["clean"]);
  const made = drawn.document;
  expect(made.nodes.map((node) => node.id)).toEqual([
    ...["orders", "clean--keep", "counted", "clean--rows", "clean--seen", "out"],
    ...["above", "below"],
  ]);
  expect(findNode(made, "clean--keep")?.params).toEqual({ predicate: "value.n > 5" });
  expect([...drawn.owners.values()]).toEqual(["clean", "clean", "clean", "clean"]);
  expect(placeOf(made, "clean--keep")?.y).toBe(0);
  expect(made.edges.map(edgeId).sort()).toEqual([...edgesThatRun(document).keys()].sort());
  const ends = [...drawn.stands].map(([id, edge]) => [id, edgeId(edge)]);
  expect(ends).toEqual([
    ["orders.out>clean--keep.in", "orders.out>clean.in"],
    ["orders.out>clean--seen.in", "orders.out>clean.in"],
    ["counted.out>out.in", "clean.out>out.in"],
  ]);
});

test("what is around an opened fragment makes room, and the document keeps its places", () => {
  const drawn = draw(document, catalog, NO_FOLDS, ["clean"]);
  const [frame] = folded(drawn.document, catalog, NO_FOLDS).frames;
  expect(frame?.group.title).toBe("clean");
  for (const id of ["orders", "out", "above", "below"]) {
    const node = findNode(drawn.document, id);
    if (node === undefined || frame === undefined) throw new Error(id);
    expect(overlap(boxOf(catalog, node), frame.box, 0), id).toBe(false);
  }
  const shown = new Map(
    ["orders", "out", "above", "below"].map((id) => [id, placeOf(drawn.document, id) ?? at(0, 0)]),
  ) as ReadonlyMap<string, { x: number; y: number }>;
  for (const [id, place] of drawn.settled(shown)) expect(place).toEqual(placeOf(document, id));
  const keep = placeOf(drawn.document, "clean--keep") ?? { x: 0, y: 0 };
  const dragged = drawn.settled(new Map([["clean--keep", { x: keep.x + 16, y: keep.y - 8 }]]));
  expect([...dragged]).toEqual([["clean", { x: 296, y: -8 }]]);
  for (const point of [at(10, 10), at(900, 40), at(320, -200)]) {
    expect(drawn.toDocument(drawn.toDrawing(point.position))).toEqual(point.position);
  }
});

test("bends of a fragment and of the edges to it are drawn when it is opened", () => {
  const bend = (source: string, target: string, ...points: { x: number; y: number }[]) => ({
    source,
    target,
    points,
  });
  const clean = document.fragments?.["Clean@1"];
  const bent = {
    ...document,
    drawing: { bends: [bend("orders", "clean", { x: 240, y: -60 })] },
    fragments: {
      "Clean@1": {
        ...clean,
        drawing: {
          bends: [bend("keep", "count", { x: 250, y: 60 }), bend("in", "keep", { x: -10, y: 90 })],
        },
      },
    },
  } as unknown as TopologyDocument;
  const made = draw(bent, catalog, NO_FOLDS, ["clean"]).document;
  const keep = placeOf(made, "clean--keep") ?? { x: 0, y: 0 };
  const [dx, dy] = [keep.x, keep.y - 100];
  expect(made.drawing?.bends).toEqual([
    bend("orders", "clean--keep", { x: 240, y: -60 }, { x: dx - 10, y: dy + 90 }),
    bend("orders", "clean--seen", { x: 240, y: -60 }),
    bend("clean--keep", "counted", { x: dx + 250, y: dy + 60 }),
  ]);
  const way = ways(made, catalog).get("clean--keep.out>counted.in") ?? [];
  expect(way).toContainEqual({ x: dx + 250, y: dy + 60 });
});

test("groups and notes of a fragment are drawn in its frame, and the document keeps its own", () => {
  const clean = document.fragments?.["Clean@1"];
  const marked = {
    ...document,
    drawing: { groups: [{ id: "g", title: "Ours", nodes: ["above"] }] },
    fragments: {
      "Clean@1": {
        ...clean,
        drawing: {
          groups: [{ id: "g", title: "Counting", nodes: ["count", "rows"], color: "violet" }],
          notes: [{ id: "n", text: "Why", position: { x: -40, y: 240 } }],
        },
      },
    },
  } as unknown as TopologyDocument;
  const [group, note] = [idWithin("clean", "g"), idWithin("clean", "n")];
  const framesOf = (folds: Folds) => {
    const drawn = draw(marked, catalog, folds, ["clean"]);
    const { frames, hidden } = folded(drawn.document, catalog, folds);
    const byId = new Map(frames.map((frame) => [frame.group.id, frame]));
    return { drawn, byId, hidden };
  };
  const { byId, drawn } = framesOf(NO_FOLDS);
  const [whole, inner] = [byId.get("fragment:clean"), byId.get(group)];
  const [written] = (drawn.document.drawing?.notes ?? []).filter(({ id }) => id === note);
  if (!whole || !inner || !written) throw new Error("no marks");
  expect(inner.group.title).toBe("Counting");
  expect([...inner.nodes].sort()).toEqual(["clean--rows", "counted"]);
  expect(byId.get("g")?.group.title).toBe("Ours");
  for (const box of [inner.box, noteBox(written)]) {
    expect(box.x >= whole.box.x && box.y >= whole.box.y).toBe(true);
    expect(box.x + box.width <= whole.box.x + whole.box.width).toBe(true);
    expect(box.y + box.height <= whole.box.y + whole.box.height).toBe(true);
  }
  const keep = placeOf(drawn.document, "clean--keep") ?? { x: 0, y: 0 };
  expect(written.position).toEqual({ x: keep.x - 40, y: keep.y + 140 });
  for (const id of ["orders", "out", "above", "below"]) {
    const node = findNode(drawn.document, id);
    expect(node && overlap(boxOf(catalog, node), whole.box, 0), id).toBe(false);
  }
  const closed = framesOf({ [group]: true });
  expect([...closed.hidden.keys()].sort()).toEqual(["clean--rows", "counted"]);
  expect((closed.byId.get("fragment:clean")?.box.height ?? 0) <= whole.box.height).toBe(true);
  const apart = dissolved(marked, catalog, "clean")?.document.drawing;
  expect(apart?.groups?.map(({ id, title }) => [id, title])).toEqual([
    ["g", "Ours"],
    ["group-1", "Counting"],
  ]);
  expect(apart?.notes?.map(({ text }) => text)).toEqual(["Why"]);
});

test("a fragment in a fragment opens within its frame; one in a collapsed group stays closed", () => {
  const outer = {
    nodes: [
      { id: "in", kind: "fragment.input" },
      { id: "first", kind: "filter", ...at(0, 0) },
      { id: "clean", kind: "fragment", ...at(280, 0), params: { fragment: "Clean@1" } },
      { id: "last", kind: "peek", ...at(560, 0) },
      { id: "out", kind: "fragment.output" },
    ],
    edges: [
      { source: "in", target: "first" },
      { source: "first", target: "clean" },
      { source: "clean", target: "last" },
      { source: "last", target: "out" },
    ],
  };
  const nested = {
    ...document,
    nodes: document.nodes.map((node) =>
      node.id === "clean" ? { ...node, params: { fragment: "Outer@1" } } : node,
    ),
    fragments: { ...document.fragments, "Outer@1": outer },
  } as unknown as TopologyDocument;
  const drawn = draw(nested, catalog, NO_FOLDS, ["clean--clean", "clean"]);
  expect([...drawn.opened]).toEqual(["clean", "clean--clean"]);
  expect(drawn.owners.get("clean--clean--keep")).toBe("clean");
  const { frames } = folded(drawn.document, catalog, NO_FOLDS);
  const [one, two] = frames.map((frame) => frame.box);
  if (one === undefined || two === undefined) throw new Error("no frames");
  expect(two.x > one.x && two.x + two.width < one.x + one.width).toBe(true);
  expect(two.y > one.y && two.y + two.height < one.y + one.height).toBe(true);
  for (const id of ["orders", "out", "above", "below"]) {
    const node = findNode(drawn.document, id);
    expect(node && overlap(boxOf(catalog, node), one, 0), id).toBe(false);
  }
  const last = placeOf(drawn.document, "clean--last") ?? { x: 0, y: 0 };
  expect(last.x >= two.x + two.width).toBe(true);

  const grouped = {
    ...document,
    drawing: { groups: [{ id: "g", nodes: ["clean", "below"], collapsed: true }] },
  };
  expect([...draw(grouped, catalog, NO_FOLDS, ["clean"]).opened]).toEqual([]);
  const open = draw(grouped, catalog, { g: false }, ["clean"]);
  const around = folded(open.document, catalog, { g: false }).frames;
  expect(around.map((frame) => frame.depth)).toEqual([0, 1]);
});
