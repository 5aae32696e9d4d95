/** Automatic layout: elk arranges layers from left to right; stores hang below the nodes that use them. */

import type { ELK, ElkNode } from "elkjs/lib/elk-api";
import { type Catalog, portsOf } from "./catalog";
import {
  isStoreKind,
  type Position,
  positionOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";
import { FRAME, groupsOf, HEAD, membersOf, noteBox, notesOf } from "./drawing";
import {
  boundsOf,
  boxOf,
  FOOTER_HEIGHT,
  GRID,
  overlap,
  portTop,
  STORE_DROP,
  STORE_HEIGHT,
  STORE_WIDTH,
  sizeOf,
  snap,
} from "./geometry";

/** The store nodes below each node: a store hangs below the first node that uses it. */
function storesBelow(
  document: TopologyDocument,
  chosen: ReadonlySet<string>,
): Map<string, string[]> {
  const kinds = new Map(document.nodes.map((node) => [node.id, node.kind]));
  const owned = new Set<string>();
  const below = new Map<string, string[]>();
  for (const edge of document.edges) {
    if (!isStoreKind(kinds.get(edge.source) ?? "") || owned.has(edge.source)) continue;
    if (!chosen.has(edge.source) || !chosen.has(edge.target)) continue;
    owned.add(edge.source);
    below.set(edge.target, [...(below.get(edge.target) ?? []), edge.source]);
  }
  return below;
}

/** Pixels between parts of a drawing that are not connected. */
const BETWEEN = 56;

/**
 * The nodes in parts that are placed one below the other: each connected part with groups, whose frames need room that
 * moves what is in the same columns, and all parts without groups.
 */
function partsOf(document: TopologyDocument, chosen: ReadonlySet<string>): ReadonlySet<string>[] {
  const nodes = document.nodes.map(({ id }) => id).filter((id) => chosen.has(id));
  const parts = new Map(nodes.map((id) => [id, new Set([id])]));
  const join = (ids: readonly string[]) => {
    const [first, ...others] = ids.filter((id) => chosen.has(id));
    const part = first === undefined ? undefined : parts.get(first);
    for (const other of part === undefined ? [] : others)
      for (const id of parts.get(other) ?? []) parts.set(id, part?.add(id) ?? new Set([id]));
  };
  for (const { source, target } of document.edges) join([source, target]);
  const grouped = groupsOf(document).map(({ id }) => membersOf(document, id));
  for (const members of grouped) join(members);
  const framed = new Set(grouped.flat().flatMap((id) => parts.get(id) ?? []));
  const plain = new Set(nodes.filter((id) => !framed.has(parts.get(id) ?? new Set())));
  return [...new Set(nodes.map((id) => (plain.has(id) ? plain : (parts.get(id) ?? plain))))];
}

/** What elk has placed, one below the other. */
function stacked(answers: readonly ElkNode[]): ElkNode {
  let top = 0;
  const children = answers.flatMap(({ children = [], height = 0 }) => {
    const moved = children.map((child) => ({ ...child, y: (child.y ?? 0) + top }));
    top += height + BETWEEN;
    return moved;
  });
  return { id: "root", children };
}

/** The space that elk leaves for the frame and the title of a group. */
const INSIDE = `[top=${HEAD + FRAME},left=${FRAME},bottom=${FRAME},right=${FRAME}]`;
const ELK_GROUP = "group:";

/** The children of elk's graph with those of a group inside of it, so that groups stay together. */
function inGroups<Child extends ElkNode>(
  document: TopologyDocument,
  children: Child[],
): (Child | ElkNode)[] {
  const groups = groupsOf(document);
  const mine = new Map(children.map((child) => [child.id, child]));
  const used = groups.filter((group) => membersOf(document, group.id).some((id) => mine.has(id)));
  if (used.length === 0) return children;
  const inside = new Set<string>();
  const within = (parent: string | undefined): (Child | ElkNode)[] =>
    used
      .filter((group) => group.parent === parent)
      .map((group) => {
        const own = (group.nodes ?? []).flatMap((id) => mine.get(id) ?? []);
        for (const child of own) inside.add(child.id);
        return {
          id: `${ELK_GROUP}${group.id}`,
          layoutOptions: { "elk.padding": INSIDE },
          children: [...own, ...within(group.id)],
        };
      });
  const outer = within(undefined);
  return [...children.filter((child) => !inside.has(child.id)), ...outer];
}

/** Where elk has placed nodes, including those in groups. */
function flat(parent: ElkNode, x = 0, y = 0): ElkNode[] {
  return (parent.children ?? []).flatMap((child) => {
    const at = { x: x + (child.x ?? 0), y: y + (child.y ?? 0) };
    return child.id.startsWith(ELK_GROUP) ? flat(child, at.x, at.y) : [{ ...child, ...at }];
  });
}

/** The graph for elk: fixed ports, room below nodes for live figures and stores, and `gap` between layers for wires. */
function elkGraph(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  gap: number,
): ElkNode {
  const below = storesBelow(document, chosen);
  const hung = new Set([...below.values()].flat());
  const nodes = document.nodes.filter((node) => chosen.has(node.id) && !hung.has(node.id));
  const children = nodes.map((node) => {
    const size = sizeOf(catalog, node);
    const stores = below.get(node.id)?.length ?? 0;
    const ports = portsOf(catalog, node);
    const place = (side: "input" | "output") => {
      const row = ports.filter((port) => port.side === side);
      return row.map((port, index) => ({
        id: `${node.id}/${side}/${port.name}`,
        x: side === "input" ? 0 : size.width,
        y: portTop(index, row.length, size.height),
        width: 0,
        height: 0,
        layoutOptions: { "elk.port.side": side === "input" ? "WEST" : "EAST" },
      }));
    };
    return {
      id: node.id,
      width: Math.max(size.width, stores * (STORE_WIDTH + GRID * 2) - GRID * 2),
      height: size.height + (stores > 0 ? STORE_DROP + STORE_HEIGHT : FOOTER_HEIGHT),
      ports: [...place("input"), ...place("output")],
      layoutOptions: { "elk.portConstraints": "FIXED_POS" },
    };
  });
  const known = new Set(children.flatMap((child) => child.ports.map((port) => port.id)));
  const grouped = inGroups(document, children);
  const inputs = new Map(children.map((child) => [child.id, child.ports[0]?.id]));
  const edges = document.edges.flatMap((edge, index) => {
    const source = `${edge.source}/output/${sourcePort(edge)}`;
    // A table is to the left of a processor that reads its store.
    const reader = targetPort(edge) === "store" ? inputs.get(edge.target) : undefined;
    const target = reader ?? `${edge.target}/input/${targetPort(edge)}`;
    if (!known.has(source) || !known.has(target)) return [];
    return [{ id: `e${index}`, sources: [source], targets: [target] }];
  });
  return {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": String(gap),
      "elk.spacing.nodeNode": "32",
      "elk.spacing.edgeNode": "20",
      "elk.spacing.edgeEdge": "12",
      "elk.spacing.componentComponent": String(BETWEEN),
      "elk.padding": "[top=0,left=0,bottom=0,right=0]",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.layered.nodePlacement.favorStraightEdges": "true",
      "elk.layered.crossingMinimization.strategy": "LAYER_SWEEP",
      // Fewest crossings of all strategies that keep the order of the document, so that small changes move little.
      "elk.layered.considerModelOrder.strategy": "PREFER_EDGES",
      "elk.separateConnectedComponents": "true",
      ...(grouped === children ? {} : { "elk.hierarchyHandling": "INCLUDE_CHILDREN" }),
    },
    children: grouped,
    edges,
  };
}

/** Positions from elk's result, including stores, with the upper left corner where it was. */
function positionsFrom(
  answer: ElkNode,
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
): Map<string, Position> {
  const below = storesBelow(document, chosen);
  const all = document.nodes.filter((node) => chosen.has(node.id));
  const whole = all.length === document.nodes.length;
  const old = whole ? null : boundsOf(all.map((node) => boxOf(catalog, node)));
  const origin = old ?? { x: 0, y: 0 };
  const positions = new Map<string, Position>();
  for (const child of flat(answer)) {
    const node = all.find((candidate) => candidate.id === child.id);
    if (node === undefined) continue;
    const place = snap({ x: origin.x + (child.x ?? 0), y: origin.y + (child.y ?? 0) });
    positions.set(node.id, place);
    const size = sizeOf(catalog, node);
    const stores = below.get(node.id) ?? [];
    const row = stores.length * (STORE_WIDTH + GRID * 2) - GRID * 2;
    stores.forEach((store, index) => {
      positions.set(store, {
        x: place.x + (size.width - row) / 2 + index * (STORE_WIDTH + GRID * 2),
        y: place.y + size.height + STORE_DROP,
      });
    });
  }
  for (const node of all) if (!positions.has(node.id)) positions.set(node.id, positionOf(node));
  return positions;
}

export async function layout(
  elk: Pick<ELK, "layout">,
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  gap = 48,
): Promise<Map<string, Position>> {
  const graphs = partsOf(document, chosen).map((part) => elkGraph(document, catalog, part, gap));
  const answers = await Promise.all(graphs.map((graph) => elk.layout(graph)));
  return positionsFrom(stacked(answers), document, catalog, chosen);
}

/**
 * Notes beside the nodes that they were nearest to, after these have been moved, and above the drawing if they would
 * cover a node there.
 */
export function followingNotes(
  before: TopologyDocument,
  after: TopologyDocument,
  catalog: Catalog,
): Map<string, Position> {
  const positions = new Map<string, Position>();
  const places = new Map(after.nodes.map((node) => [node.id, boxOf(catalog, node)]));
  const boxes = [...places.values()];
  const top = boundsOf(boxes)?.y ?? 0;
  for (const note of notesOf(before)) {
    const box = noteBox(note);
    const far = (node: Position) => Math.abs(node.x - box.x) + Math.abs(node.y - box.y);
    const nearest = [...before.nodes].sort((a, b) => far(positionOf(a)) - far(positionOf(b)))[0];
    const place = nearest === undefined ? undefined : places.get(nearest.id);
    if (nearest === undefined || place === undefined) continue;
    const old = positionOf(nearest);
    const moved = { ...box, x: box.x + place.x - old.x, y: box.y + place.y - old.y };
    if (boxes.some((each) => overlap(moved, each, GRID))) moved.y = top - box.height - GRID * 3;
    while (boxes.some((each) => overlap(moved, each, GRID))) moved.x += GRID * 4;
    boxes.push(moved);
    positions.set(note.id, snap(moved));
  }
  return positions;
}

export type Alignment = "left" | "right" | "top" | "bottom" | "middle" | "centre";

/** Aligns nodes at an edge or at their middles. */
export function align(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  how: Alignment,
): Map<string, Position> {
  const nodes = document.nodes.filter((node) => chosen.has(node.id));
  const bounds = boundsOf(nodes.map((node) => boxOf(catalog, node)));
  const positions = new Map<string, Position>();
  if (bounds === null) return positions;
  for (const node of nodes) {
    const box = boxOf(catalog, node);
    let { x, y } = box;
    if (how === "left") x = bounds.x;
    if (how === "right") x = bounds.x + bounds.width - box.width;
    if (how === "centre") x = bounds.x + (bounds.width - box.width) / 2;
    if (how === "top") y = bounds.y;
    if (how === "bottom") y = bounds.y + bounds.height - box.height;
    if (how === "middle") y = bounds.y + (bounds.height - box.height) / 2;
    positions.set(node.id, { x, y });
  }
  return positions;
}

/** Spreads nodes so that the gaps between them are equal; the outer two stay. */
export function distribute(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  axis: "x" | "y",
): Map<string, Position> {
  const side = axis === "x" ? "width" : "height";
  const boxes = document.nodes
    .filter((node) => chosen.has(node.id))
    .map((node) => ({ id: node.id, ...boxOf(catalog, node) }))
    .sort((a, b) => a[axis] - b[axis]);
  const first = boxes[0];
  const last = boxes.at(-1);
  const positions = new Map<string, Position>();
  if (first === undefined || last === undefined || boxes.length < 3) return positions;
  const inner = boxes.reduce((sum, box) => sum + box[side], 0);
  const gap = (last[axis] + last[side] - first[axis] - inner) / (boxes.length - 1);
  let at = first[axis];
  for (const box of boxes) {
    positions.set(box.id, axis === "x" ? { x: at, y: box.y } : { x: box.x, y: at });
    at += box[side] + gap;
  }
  return positions;
}
