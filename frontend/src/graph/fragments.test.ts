import { expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { setPoints } from "./bends";
import { type Catalog, portsOf } from "./catalog";
import { edgeId, emptyDocument, type TopologyDocument } from "./document";
import {
  addFragment,
  cutPorts,
  dissolved,
  fragmentOf,
  proposedNames,
  replaced,
  setArgument,
  updateFragment,
  withoutUnused,
} from "./fragmentChanges";
import { boxOf, overlap } from "./geometry";
import { placeOf } from "./parameters";

const drawn: TopologyDocument = {
  ...emptyDocument("orders"),
  parameters: { low: { type: "number", default: 10, values: { prod: 20 } } },
  nodes: [
    { id: "orders", kind: "source.stream", params: { topics: ["orders"] } },
    {
      id: "keep",
      kind: "filter",
      position: { x: 240, y: 80 },
      params: { predicate: `value.n > ${placeOf("low")}` },
    },
    { id: "count", kind: "count", position: { x: 480, y: 80 }, params: {} },
    { id: "seen", kind: "sink.topic", params: { topic: "seen" } },
    { id: "counts", kind: "sink.topic", params: { topic: "counts" } },
  ],
  edges: [
    { source: "orders", target: "keep" },
    { source: "orders", target: "seen" },
    { source: "keep", target: "count" },
    { source: "count", target: "counts" },
  ],
};
const known = {
  orders: { out: { role: "stream", key: "STRING", value: "STRUCT<n: INT>" } },
  count: { out: { role: "table", key: "STRING", value: "BIGINT" } },
};
const chosen = new Set(["keep", "count"]);

function made() {
  const ports = cutPorts(drawn, chosen, known) ?? [];
  const names = proposedNames(ports, chosen);
  const fragment = fragmentOf(drawn, CATALOG, chosen, "Clean", ports, names);
  return { fragment, ...replaced(drawn, CATALOG, chosen, ports, names, "Clean@1", fragment) };
}

test("a selection becomes a fragment with ports at its cut edges", () => {
  const { document, fragment, id } = made();
  expect(fragment.nodes.map((node) => [node.id, node.kind])).toEqual([
    ["in", "fragment.input"],
    ["keep", "filter"],
    ["count", "count"],
    ["out", "fragment.output"],
  ]);
  expect(fragment.nodes[0]?.params).toEqual({
    role: "stream",
    key: "STRING",
    value: "STRUCT<n: INT>",
  });
  expect(fragment.edges.map(edgeId)).toEqual([
    "in.out>keep.in",
    "keep.out>count.in",
    "count.out>out.in",
  ]);
  // The fragment's parameter has no values of environments: it gets them from the topology.
  expect(fragment.parameters).toEqual({ low: { type: "number", default: 10 } });
  expect(id).toBe("clean");
  expect(document.nodes.map((node) => node.id)).toEqual(["orders", "clean", "seen", "counts"]);
  expect(document.nodes[1]?.params).toEqual({
    fragment: "Clean@1",
    arguments: { low: placeOf("low") },
    identities: { keep: "keep", count: "count" },
  });
  expect(document.edges.map(edgeId)).toEqual([
    "orders.out>clean.in",
    "orders.out>seen.in",
    "clean.out>counts.in",
  ]);
  const catalog = { kinds: [], fragments: document.fragments } as unknown as Catalog;
  const node = document.nodes[1];
  expect(node && portsOf(catalog, node).map(({ name, side }) => [name, side])).toEqual([
    ["in", "input"],
    ["out", "output"],
  ]);
});

test("a dissolved fragment is what it was made of", () => {
  const { document, id } = made();
  const back = dissolved(document, CATALOG, id)?.document;
  expect(back?.fragments).toBeUndefined();
  expect(back?.parameters).toEqual(drawn.parameters);
  expect(back?.nodes.map((node) => node.id)).toEqual(["orders", "keep", "count", "seen", "counts"]);
  expect(back?.nodes[1]?.params).toEqual(drawn.nodes[1]?.params);
  expect(back?.edges.map(edgeId).sort()).toEqual(drawn.edges.map(edgeId).sort());
  for (const inner of chosen) {
    const [now, before] = [back, drawn].map((each) => each?.nodes.find((one) => one.id === inner));
    expect(now?.position).toEqual(before?.position);
  }
});

test("a dissolved fragment covers no other node: what is to its right makes room", () => {
  const { document, id } = made();
  const places = { orders: { x: -40, y: 80 }, seen: { x: 360, y: 400 }, counts: { x: 600, y: 80 } };
  const crowded = {
    ...document,
    nodes: document.nodes.map((node) => ({
      ...node,
      position: (places as Record<string, { x: number; y: number }>)[node.id] ?? node.position,
    })),
  } as TopologyDocument;
  const nodes = dissolved(crowded, CATALOG, id)?.document.nodes ?? [];
  const boxes = nodes.map((node) => boxOf(CATALOG, node));
  for (const [index, box] of boxes.entries()) {
    expect(boxes.slice(index + 1).some((other) => overlap(box, other, 0))).toBe(false);
  }
  expect(nodes.find((node) => node.id === "counts")?.position?.x).toBeGreaterThan(600);
});

test("children of a node between those of a fragment keep their place", () => {
  const edges = [
    { source: "orders", target: "keep" },
    { source: "orders", target: "seen" },
    { source: "orders", target: "count" },
  ];
  const ports = cutPorts({ ...drawn, edges }, chosen, known) ?? [];
  expect(ports.map((port) => port.edges.length)).toEqual([1, 1]);
  const store = [{ source: "keep", target: "counts", target_port: "store" }];
  expect(cutPorts({ ...drawn, edges: store }, chosen, known)).toBeNull();
});

test("another use has ids of its own, arguments, and parameters when it is dissolved", () => {
  const { fragment } = made();
  const added = addFragment(emptyDocument("other"), "Clean@1", fragment, "Clean", { x: 0, y: 0 });
  const set = setArgument(added.document, "clean", "low", 3);
  expect(set.nodes[0]?.params).toEqual({ fragment: "Clean@1", arguments: { low: 3 } });
  expect(setArgument(set, "clean", "low", undefined)).toEqual(added.document);
  const back = dissolved(set, CATALOG, "clean")?.document;
  expect(back?.nodes.map((node) => node.id)).toEqual(["clean--keep", "clean--count"]);
  expect(back?.parameters).toEqual({ clean_low: { type: "number", default: 3 } });
  expect(back?.nodes[0]?.params?.predicate).toBe(`value.n > ${placeOf("clean_low")}`);
});

test("an update takes the new definition and drops what nothing uses", () => {
  const { document, fragment } = made();
  const { parameters: _low, ...newer } = fragment;
  const updated = updateFragment(document, "clean", "Clean@2", newer);
  expect(Object.keys(updated.fragments ?? {})).toEqual(["Clean@2"]);
  expect(updated.nodes[1]?.params).toEqual({
    fragment: "Clean@2",
    identities: { keep: "keep", count: "count" },
  });
  expect(withoutUnused({ ...updated, nodes: [] }).fragments).toBeUndefined();
});

test("bends and groups go into a fragment and come back when it is dissolved", () => {
  const at = (x: number, y: number) => ({ x, y });
  const bent = [
    { source: "orders", target: "keep", points: [at(100, -40), at(230, 108)] },
    { source: "keep", target: "count", points: [at(470, 20)] },
    { source: "count", target: "counts", points: [at(705, 150), at(900, 160)] },
  ].reduce((now, { points, ...edge }) => setPoints(now, edge, points), {
    ...drawn,
    drawing: {
      groups: [
        { id: "all", nodes: ["seen"] },
        { id: "inner", title: "Inner", nodes: ["keep", "count"], parent: "all" },
      ],
    },
  } as TopologyDocument);
  const ports = cutPorts(bent, chosen, known) ?? [];
  const fragment = fragmentOf(bent, CATALOG, chosen, "Clean", ports, ["in", "out"]);
  expect(fragment.drawing).toEqual({
    groups: [{ id: "group-1", title: "Inner", nodes: ["keep", "count"] }],
    bends: [
      { source: "keep", target: "count", points: [at(470, 20)] },
      { source: "in", target: "keep", points: [at(230, 108)] },
      { source: "count", target: "out", points: [at(705, 150)] },
    ],
  });
  const names = ["in", "out"];
  const { document, id } = replaced(bent, CATALOG, chosen, ports, names, "Clean@1", fragment);
  expect(document.drawing).toEqual({
    groups: [{ id: "all", nodes: ["seen", id] }],
    bends: [
      { source: "orders", target: id, points: [at(100, -40)] },
      { source: id, target: "counts", points: [at(900, 160)] },
    ],
  });
  const again = dissolved(document, CATALOG, id)?.document;
  const keep = again?.nodes.find((node) => node.id === "keep")?.position ?? at(0, 0);
  const [dx, dy] = [keep.x - 240, keep.y - 80];
  expect(again?.drawing).toEqual({
    groups: [
      { id: "all", nodes: ["seen"] },
      { id: "group-1", title: "Inner", nodes: ["keep", "count"], parent: "all" },
    ],
    bends: [
      { source: "orders", target: "keep", points: [at(100, -40), at(230 + dx, 108 + dy)] },
      { source: "keep", target: "count", points: [at(470 + dx, 20 + dy)] },
      { source: "count", target: "counts", points: [at(705 + dx, 150 + dy), at(900, 160)] },
    ],
  });
});
