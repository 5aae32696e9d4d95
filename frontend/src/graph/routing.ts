/** The way of a wire: from an output to an input to its right, around the nodes between them. */

import { type Divided, divided, pointsOf, wayThrough } from "./bends";
import { type Catalog, portsOf } from "./catalog";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  isStoreKind,
  type Position,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";
import { type Folded, type Frame, type GroupPort, innerPort, NOTHING_FOLDED } from "./drawing";
import { type Box, boxOf, FOOTER_HEIGHT, portTop } from "./geometry";

/** The smallest distance between a wire and a node that it passes. */
const AIR = 8;
/** The distance from a node at which a wire turns, if it does not turn in the middle of the gap. */
const TURN = 20;

/** The box of a node that wires avoid: with its strip of figures, which hangs below it. */
export function obstacle(catalog: Catalog, node: DocumentNode): Box {
  const box = boxOf(catalog, node);
  return isStoreKind(node.kind) ? box : { ...box, height: box.height + FOOTER_HEIGHT };
}

/** The places of a node's output or input; null for a port that it does not have. */
export function portPlace(
  catalog: Catalog,
  node: DocumentNode,
  side: "input" | "output",
  name: string,
): Position | null {
  const row = portsOf(catalog, node).filter((port) => port.side === side);
  const index = row.findIndex((port) => port.name === name);
  if (index < 0) return null;
  const box = boxOf(catalog, node);
  return {
    x: side === "input" ? box.x : box.x + box.width,
    y: box.y + portTop(index, row.length, box.height),
  };
}

type Segment = readonly [Position, Position];

/** The straight parts of a line through these points. */
export function segments(points: readonly Position[]): Segment[] {
  return points.slice(1).map((to, index): Segment => [points[index] ?? to, to]);
}

/** Whether a horizontal or vertical line enters a box, or comes nearer to it than `air`. */
export function enters([a, b]: Segment, box: Box, air: number): boolean {
  return (
    Math.max(a.x, b.x) > box.x - air &&
    Math.min(a.x, b.x) < box.x + box.width + air &&
    Math.max(a.y, b.y) > box.y - air &&
    Math.min(a.y, b.y) < box.y + box.height + air
  );
}

function turned(from: Position, to: Position, ...turns: readonly Position[]): Position[] {
  const points = [from];
  for (const { x, y } of turns) points.push({ x, y: points.at(-1)?.y ?? y }, { x, y });
  return [...points, to];
}

/**
 * The corners of a wire from an output to an input, including both ends. It turns once if that suffices, in the middle
 * of the gap if nothing is there, and otherwise goes through a free row between the nodes. Null if the input is not to the
 * right of the output.
 */
export function wayAround(
  from: Position,
  to: Position,
  boxes: readonly Box[],
): readonly Position[] | null {
  const gap = to.x - from.x;
  if (gap <= 0) return null;
  const middle = turned(from, to, { x: from.x + gap / 2, y: to.y });
  // Only what lies between the two ends can be in the way; the ends' own nodes touch the wire.
  const between = boxes.filter((box) => box.x < to.x && box.x + box.width > from.x);
  const free = (points: readonly Position[]) =>
    !segments(points).some((part) => between.some((box) => enters(part, box, AIR - 1)));
  if (between.length === 0 || free(middle)) return middle;
  const near = Math.min(TURN, gap / 2);
  const [first, last] = [from.x + near, to.x - near];
  const columns = [last, first, ...between.map((box) => box.x - TURN)];
  for (const x of columns) {
    if (x <= from.x || x >= to.x) continue;
    const once = turned(from, to, { x, y: to.y });
    if (free(once)) return once;
  }
  const rows = between
    .flatMap((box) => [box.y - AIR * 2, box.y + box.height + AIR * 2])
    .sort((a, b) => detour(a, from, to) - detour(b, from, to));
  for (const y of rows) {
    const through = turned(from, to, { x: first, y }, { x: last, y: to.y });
    if (free(through)) return through;
  }
  return middle;
}

const detour = (y: number, from: Position, to: Position) =>
  Math.abs(y - from.y) + Math.abs(y - to.y);

/** Width of the columns in which boxes are looked up, about that of a node with the gap beside it. */
const COLUMN = 256;

/** Finds the boxes in the columns between two points, in their order, without going through all of them for each wire. */
function columnsOf<T extends Box>(boxes: readonly T[]): (from: Position, to: Position) => T[] {
  const columns = new Map<number, number[]>();
  for (const [index, { width, x }] of boxes.entries()) {
    for (let at = Math.floor(x / COLUMN); at <= Math.floor((x + width) / COLUMN); at += 1) {
      const column = columns.get(at);
      if (column === undefined) columns.set(at, [index]);
      else column.push(index);
    }
  }
  return (from, to) => {
    const found = new Set<number>();
    for (let at = Math.floor(from.x / COLUMN); at <= Math.floor(to.x / COLUMN); at += 1) {
      for (const index of columns.get(at) ?? []) found.add(index);
    }
    return [...found].sort((a, b) => a - b).flatMap((index) => boxes[index] ?? []);
  };
}

/** The points of an edge, of which those within collapsed groups are not drawn. */
export function dividedBy(
  edge: DocumentEdge,
  points: readonly Position[],
  hidden: Folded["hidden"],
): Divided {
  return divided(points, hidden.get(edge.source)?.area, hidden.get(edge.target)?.area);
}

/**
 * The corners of every wire that carries records and goes to the right or is bent, by the id of the edge. Collapsed groups
 * stand for the nodes in them.
 */
export function ways(
  document: TopologyDocument,
  catalog: Catalog,
  { frames, hidden }: Folded = NOTHING_FOLDED,
): Map<string, readonly Position[]> {
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const boxes = document.nodes
    .filter((node) => !hidden.has(node.id))
    .map((node) => ({ id: node.id, ...obstacle(catalog, node) }));
  for (const { box, collapsed, group } of frames) {
    if (collapsed) boxes.push({ id: `${group.id}:`, ...box });
  }
  const near = columnsOf(boxes);
  const bent = pointsOf(document);
  const shownAs = (node: string) => {
    const frame = hidden.get(node);
    return frame === undefined ? node : `${frame.group.id}:`;
  };
  const found = new Map<string, readonly Position[]>();
  for (const edge of document.edges) {
    const own = [shownAs(edge.source), shownAs(edge.target)];
    if (own[0] === own[1]) continue;
    const ends = endsOf(edge, nodes, catalog, hidden);
    if (ends === null) continue;
    const points = dividedBy(edge, bent.get(edgeId(edge)) ?? [], hidden).between;
    if (points.length > 0) {
      found.set(edgeId(edge), wayThrough(...ends, points));
      continue;
    }
    const others = near(...ends).filter((box) => !own.includes(box.id));
    const way = wayAround(...ends, others);
    if (way !== null) found.set(edgeId(edge), way);
  }
  return found;
}

/** The place of a port of a collapsed group; null if there is no group or no such port. */
export function groupPlace(
  frame: Frame | undefined,
  side: GroupPort["side"],
  id: string,
): Position | null {
  const port = frame?.ports.find((each) => each.side === side && each.id === id);
  if (frame === undefined || port === undefined) return null;
  return { x: frame.box.x + port.place.x, y: frame.box.y + port.place.y };
}

/** Where the wire of an edge begins and ends; null if it carries no records. */
export function endsOf(
  edge: DocumentEdge,
  nodes: ReadonlyMap<string, DocumentNode>,
  catalog: Catalog,
  hidden: Folded["hidden"],
): [Position, Position] | null {
  const source = nodes.get(edge.source);
  const target = nodes.get(edge.target);
  if (source === undefined || target === undefined || isStoreKind(source.kind)) return null;
  if (targetPort(edge) === "store") return null;
  const from =
    groupPlace(hidden.get(edge.source), "output", innerPort(edge, "source")) ??
    portPlace(catalog, source, "output", sourcePort(edge));
  const to =
    groupPlace(hidden.get(edge.target), "input", innerPort(edge, "target")) ??
    portPlace(catalog, target, "input", targetPort(edge));
  return from === null || to === null ? null : [from, to];
}
