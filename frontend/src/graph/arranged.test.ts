/** Measures what *Arrange* does with all templates and with random topologies. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { CATALOG } from "../commands/kit";
import { moveNodes } from "./changes";
import {
  type DocumentEdge,
  edgeId,
  findNode,
  isStoreKind,
  type Position,
  positionOf,
  type TopologyDocument,
} from "./document";
import { GRID } from "./geometry";
import { layout } from "./layout";
import { enters, obstacle, segments, wayAround, ways } from "./routing";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));
const folder = "backend/catalog/documents";
const TEMPLATES: TopologyDocument[] = readdirSync(join(ROOT, folder)).map(
  (name) => read(`${folder}/${name}`).document,
);
/** 196 small and four large ones. */
const RANDOM: TopologyDocument[] = read("tests/golden/topologies.json").map((each: object) => ({
  format: "millrace.topology/1",
  name: "random",
  ...each,
}));

interface Measured {
  backward: number;
  through: number;
  crossings: number;
  overlaps: number;
  edges: number;
}

/** Whether two straight parts cross at a point inside both of them. */
function cross([a, b]: readonly [Position, Position], [c, d]: readonly [Position, Position]) {
  if ((a.x === b.x) === (c.x === d.x)) return false;
  const [[v, w], [h, k]] =
    a.x === b.x
      ? [
          [a, b],
          [c, d],
        ]
      : [
          [c, d],
          [a, b],
        ];
  return (
    v.x > Math.min(h.x, k.x) &&
    v.x < Math.max(h.x, k.x) &&
    h.y > Math.min(v.y, w.y) &&
    h.y < Math.max(v.y, w.y)
  );
}

function measure(document: TopologyDocument): Measured {
  const boxes = document.nodes.map((node) => ({ id: node.id, ...obstacle(CATALOG, node) }));
  const wires = document.edges.filter(
    (edge) => !isStoreKind(document.nodes.find((node) => node.id === edge.source)?.kind ?? ""),
  );
  const drawn = ways(document, CATALOG);
  const lines = [...drawn.entries()].map(([id, points]) => ({ id, parts: segments(points) }));
  let [through, crossings, overlaps] = [0, 0, 0];
  for (const [index, line] of lines.entries()) {
    const wire = wires.find((edge) => edgeId(edge) === line.id);
    const hit = boxes.filter(
      (box) =>
        box.id !== wire?.source &&
        box.id !== wire?.target &&
        line.parts.some((part) => enters(part, box, 0)),
    );
    through += hit.length;
    for (const other of lines.slice(index + 1))
      for (const one of line.parts)
        crossings += other.parts.filter((part) => cross(one, part)).length;
  }
  for (const [index, one] of boxes.entries()) {
    for (const two of boxes.slice(index + 1)) {
      const apart =
        one.x + one.width <= two.x ||
        two.x + two.width <= one.x ||
        one.y + one.height <= two.y ||
        two.y + two.height <= one.y;
      if (!apart) overlaps += 1;
    }
  }
  const backward = wires.length - drawn.size;
  return { backward, through, crossings, overlaps, edges: wires.length };
}

let arrange: (document: TopologyDocument) => Promise<TopologyDocument>;

beforeAll(async () => {
  const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
  const elk = new Elk();
  arrange = async (document) => {
    const all = new Set(document.nodes.map((node) => node.id));
    return moveNodes(document, await layout(elk, document, CATALOG, all));
  };
});

const sum = (found: readonly Measured[]) =>
  found.reduce(
    (total, each) => ({
      backward: total.backward + each.backward,
      through: total.through + each.through,
      crossings: total.crossings + each.crossings,
      overlaps: total.overlaps + each.overlaps,
      edges: total.edges + each.edges,
    }),
    { backward: 0, through: 0, crossings: 0, overlaps: 0, edges: 0 },
  );

test("all edges go to the right, around the nodes between their ends", async () => {
  const found: Measured[] = [];
  for (const document of [...TEMPLATES, ...RANDOM]) found.push(measure(await arrange(document)));
  const { crossings, edges, ...faults } = sum(found);
  expect(found.length).toBeGreaterThanOrEqual(200 + 10);
  expect(edges).toBeGreaterThan(1_000);
  expect(faults).toEqual({ backward: 0, through: 0, overlaps: 0 });
  // As many as with the best of elk's strategies.
  expect(crossings).toBeLessThanOrEqual(24);
}, 60_000);

/** Three documents in one, and a group in the second of them. */
function lanes(first: number, grouped: boolean): TopologyDocument {
  const all = [...TEMPLATES, ...RANDOM];
  const named = [0, 1, 2].map((lane) => {
    const { edges, nodes } = all[(first + lane) % all.length] ?? { edges: [], nodes: [] };
    const own = (id: string) => `${lane}-${id}`;
    return {
      nodes: nodes.map((node) => ({ ...node, id: own(node.id) })),
      edges: edges.map((edge) => ({
        ...edge,
        source: own(edge.source),
        target: own(edge.target),
      })),
    };
  });
  const inner = named[1]?.edges[0];
  const groups = [
    { id: "group", label: "Group", nodes: [inner?.source ?? "", inner?.target ?? ""] },
  ];
  return {
    format: "millrace.topology/1",
    name: "lanes",
    nodes: named.flatMap(({ nodes }) => nodes),
    edges: named.flatMap(({ edges }) => edges),
    ...(grouped ? { drawing: { groups } } : {}),
  };
}

test("a group moves no node of another connected part sideways", async () => {
  const found: Measured[] = [];
  for (let first = 0; first < 60; first += 3) {
    const [before, after] = [await arrange(lanes(first, false)), await arrange(lanes(first, true))];
    found.push(measure(after));
    for (const { source, target } of before.edges) {
      if (source.startsWith("1-")) continue;
      const across = (document: TopologyDocument) => {
        const [from, to] = [findNode(document, source), findNode(document, target)];
        return from === undefined || to === undefined
          ? null
          : positionOf(to).x - positionOf(from).x;
      };
      expect(across(after), `${source} ${target}`).toBe(across(before));
    }
  }
  const { backward, overlaps } = sum(found);
  expect({ backward, overlaps }).toEqual({ backward: 0, overlaps: 0 });
}, 60_000);

/** The document with a node in one of its edges. */
function longer(document: TopologyDocument, edge: DocumentEdge): TopologyDocument {
  const { source_port, target_port, ...ends } = edge;
  const nodes = [...document.nodes, { id: "inserted", kind: "map_values", params: {} }];
  const first = { source: ends.source, target: "inserted", ...(source_port && { source_port }) };
  const second = { source: "inserted", target: ends.target, ...(target_port && { target_port }) };
  const edges = document.edges.flatMap((each) => (each === edge ? [first, second] : [each]));
  return { ...document, nodes, edges };
}

test("most nodes keep their row and order when one is inserted", async () => {
  const [moves, turned]: [number[], number[]] = [[], []];
  for (const [index, document] of [...TEMPLATES, ...RANDOM].entries()) {
    const before = await arrange(document);
    const wires = before.edges.filter(
      (edge) => !isStoreKind(findNode(before, edge.source)?.kind ?? ""),
    );
    const edge = wires[index % wires.length];
    if (edge === undefined) continue;
    const after = await arrange(longer(before, edge));
    const rows = before.nodes.map((node) => {
      const moved = findNode(after, node.id);
      return [positionOf(node).y, moved === undefined ? Number.NaN : positionOf(moved).y] as const;
    });
    moves.push(...rows.map(([one, two]) => Math.abs(one - two)));
    for (const [at, [one, two]] of rows.entries())
      for (const [otherOne, otherTwo] of rows.slice(at + 1))
        turned.push(Number((one - otherOne) * (two - otherTwo) < 0));
  }
  const kept = moves.filter((each) => each <= GRID).length / moves.length;
  const swapped = turned.reduce((sum, each) => sum + each, 0) / turned.length;
  expect(kept).toBeGreaterThan(0.65);
  expect(swapped).toBeLessThan(0.07);
}, 120_000);

test("a wire turns once where it can, and passes what is in its way", () => {
  const from = { x: 0, y: 0 };
  const box = { x: 100, y: -30, width: 200, height: 60 };
  expect(wayAround(from, { x: 80, y: 50 }, [box])?.map(({ x }) => x)).toEqual([0, 40, 40, 80]);
  const around = wayAround(from, { x: 400, y: 0 }, [box]);
  expect(around).toHaveLength(6);
  expect(segments(around ?? []).some((part) => enters(part, box, 7))).toBe(false);
  expect(wayAround(from, { x: -10, y: 0 }, [])).toBeNull();
});

test("the templates go to the right as they are stored", () => {
  for (const document of TEMPLATES) {
    const { crossings: _, edges: __, ...faults } = measure(document);
    expect(faults, document.name).toEqual({ backward: 0, through: 0, overlaps: 0 });
  }
});
