/** Bends of edges: the points through which a person has led a wire. */

import {
  type DocumentEdge,
  edgeId,
  makeEdge,
  type Position,
  sourcePort,
  type TopologyDocument,
  targetPort,
  withDrawing,
} from "./document";
import type { Box } from "./geometry";

type Drawing = NonNullable<TopologyDocument["drawing"]>;
export type Bend = NonNullable<Drawing["bends"]>[number];

/** The distance from a node at which a wire turns. */
const TURN = 20;
/** How far below its end a wire goes back that has no other way. */
const BELOW = 48;

const NONE: readonly Bend[] = [];
const known = new WeakMap<readonly Bend[], ReadonlyMap<string, readonly Position[]>>();

const bendsOf = (document: Pick<TopologyDocument, "drawing">) => document.drawing?.bends ?? NONE;

/** The points of all bent edges, by the id of the edge. */
export function pointsOf(
  document: Pick<TopologyDocument, "drawing">,
): ReadonlyMap<string, readonly Position[]> {
  const bends = bendsOf(document);
  let found = known.get(bends);
  if (found === undefined) {
    found = new Map(bends.map((bend) => [edgeId(bend), bend.points]));
    known.set(bends, found);
  }
  return found;
}

const withBends = (document: TopologyDocument, bends: readonly Bend[]) =>
  withDrawing(document, { bends });

/** The bends of a document, each changed by a function; those for which it returns null are removed. */
function changed(document: TopologyDocument, how: (bend: Bend) => Bend | null): TopologyDocument {
  const before = bendsOf(document);
  const after = before.map(how);
  if (after.every((bend, index) => bend === before[index])) return document;
  return withBends(
    document,
    after.filter((bend) => bend !== null),
  );
}

/** Leads an edge through these points; without any, it is routed automatically. */
export function setPoints(
  document: TopologyDocument,
  edge: DocumentEdge,
  points: readonly Position[],
): TopologyDocument {
  const id = edgeId(edge);
  const others = bendsOf(document).filter((bend) => edgeId(bend) !== id);
  if (points.length === 0)
    return others.length === bendsOf(document).length ? document : withBends(document, others);
  const ends = makeEdge(edge.source, sourcePort(edge), edge.target, targetPort(edge));
  const rounded = points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
  return withBends(document, [...others, { ...ends, points: rounded }]);
}

/** Routes edges at these nodes automatically. */
export function straightened(
  document: TopologyDocument,
  nodes: ReadonlySet<string>,
): TopologyDocument {
  return changed(document, (bend) =>
    nodes.has(bend.source) || nodes.has(bend.target) ? null : bend,
  );
}

/** Without the bends of edges that do not exist. */
export function withoutLostBends(document: TopologyDocument): TopologyDocument {
  if (bendsOf(document).length === 0) return document;
  const ids = new Set(document.edges.map(edgeId));
  return changed(document, (bend) => (ids.has(edgeId(bend)) ? bend : null));
}

/** The bends of edges whose ends have other names now. */
export function renamedBends(
  document: TopologyDocument,
  renamed: (edge: DocumentEdge) => DocumentEdge,
): TopologyDocument {
  return changed(document, (bend) => {
    const { points, ...edge } = bend;
    const now = renamed(edge);
    return edgeId(now) === edgeId(edge) ? bend : { ...now, points };
  });
}

const shift = (points: readonly Position[], by: Position) =>
  points.map(({ x, y }) => ({ x: x + by.x, y: y + by.y }));

/** Bends between nodes that were moved alike move along. */
export function movedBends(before: TopologyDocument, after: TopologyDocument): TopologyDocument {
  if (bendsOf(after).length === 0) return after;
  const places = new Map(before.nodes.map((node) => [node.id, node.position]));
  const moves = new Map(
    after.nodes.flatMap(({ id, position }) => {
      const old = places.get(id);
      if (old === undefined || position === undefined) return [];
      return [[id, { x: position.x - old.x, y: position.y - old.y }] as const];
    }),
  );
  return changed(after, (bend) => {
    const [one, other] = [moves.get(bend.source), moves.get(bend.target)];
    if (one === undefined || one.x !== other?.x || one.y !== other.y) return bend;
    return one.x === 0 && one.y === 0 ? bend : { ...bend, points: shift(bend.points, one) };
  });
}

/** The bends of edges between nodes, under their new ids and moved. */
export function copiedBends(
  drawing: Drawing | undefined,
  idOf: (node: string) => string | undefined,
  by: Position,
): Bend[] {
  return (drawing?.bends ?? NONE).flatMap((bend) => {
    const [source, target] = [idOf(bend.source), idOf(bend.target)];
    if (source === undefined || target === undefined) return [];
    return [{ ...bend, source, target, points: shift(bend.points, by) }];
  });
}

/** All points, each at another place. */
export function placedBends(
  document: TopologyDocument,
  at: (point: Position) => Position,
): TopologyDocument {
  return changed(document, (bend) => ({ ...bend, points: bend.points.map(at) }));
}

/** The points of an edge in three parts: those inside of what its source and its target are in, and those between. */
export interface Divided {
  readonly inSource: readonly Position[];
  readonly between: readonly Position[];
  readonly inTarget: readonly Position[];
}

/** Divides the points of an edge at the boxes around its ends: the first ones and the last ones may be inside. */
export function divided(
  points: readonly Position[],
  source: Box | undefined,
  target: Box | undefined,
): Divided {
  const outOf = (box: Box | undefined) => (point: Position) => !contains(box, point);
  const leaves = source === undefined ? 0 : points.findIndex(outOf(source));
  const first = leaves < 0 ? points.length : leaves;
  const last = target === undefined ? points.length : points.findLastIndex(outOf(target)) + 1;
  const end = Math.max(first, last);
  return {
    inSource: points.slice(0, first),
    between: points.slice(first, end),
    inTarget: points.slice(end),
  };
}

function contains(box: Box | undefined, { x, y }: Position): boolean {
  if (box === undefined) return false;
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** Puts bends in place of those at a node. */
export function withBendsFor(
  document: TopologyDocument,
  node: string,
  bends: readonly Bend[],
): TopologyDocument {
  const others = bendsOf(document).filter(({ source, target }) => ![source, target].includes(node));
  const same = bends.length === 0 && others.length === bendsOf(document).length;
  return same ? document : withBends(document, [...others, ...bends]);
}

/** Adds bends to those of a document. */
export function addBends(document: TopologyDocument, bends: readonly Bend[]): TopologyDocument {
  return bends.length === 0 ? document : withBends(document, [...bendsOf(document), ...bends]);
}

// -- the way of a bent wire ------------------------------------------------------------------------

type Heading = "right" | "left" | "down" | "up";

const across = (from: Position, to: Position): Heading => (to.x < from.x ? "left" : "right");
const along = (from: Position, to: Position): Heading => (to.y < from.y ? "up" : "down");
const isLevel = (heading: Heading) => heading === "right" || heading === "left";

/** Corners from one point to the next: it goes on as it came where that is not back, and turns once. */
function leg(from: Position, to: Position, heading: Heading, first: boolean): Position[] {
  const level = isLevel(heading);
  const [forward, other] = level
    ? [to.x !== from.x && across(from, to) === heading, to.y !== from.y]
    : [to.y !== from.y && along(from, to) === heading, to.x !== from.x];
  if (first && !forward) {
    const x = from.x + TURN;
    return [{ x, y: from.y }, { x, y: to.y }, to];
  }
  if (!other) return [to];
  const goesOnLevel = level === forward;
  return [goesOnLevel ? { x: to.x, y: from.y } : { x: from.x, y: to.y }, to];
}

/** Corners from the last point to the input, which is reached from the left. */
function lastLeg(from: Position, to: Position, heading: Heading): Position[] {
  const level = isLevel(heading);
  const before = to.x - TURN;
  if (to.x > from.x) {
    if (to.y === from.y) return [to];
    const turns = level ? heading === "left" : along(from, to) === heading;
    if (turns) return [{ x: from.x, y: to.y }, to];
    const x = from.x + (to.x - from.x) / 2;
    return [{ x, y: from.y }, { x, y: to.y }, to];
  }
  if (heading === "left" || (!level && along(from, to) !== heading && to.y !== from.y))
    return [{ x: before, y: from.y }, { x: before, y: to.y }, to];
  const y = to.y === from.y ? from.y + BELOW : from.y + (to.y - from.y) / 2;
  return [{ x: from.x, y }, { x: before, y }, { x: before, y: to.y }, to];
}

/** The parts of a wire through points, one before each of them and one to the input, as corners with both ends. */
export function legsThrough(
  from: Position,
  to: Position,
  points: readonly Position[],
): Position[][] {
  const legs: Position[][] = [];
  let at = from;
  let heading: Heading = "right";
  for (const point of points) {
    const corners: Position[] = [at, ...leg(at, point, heading, legs.length === 0)];
    const last: Position | undefined = corners.findLast(
      ({ x, y }) => x !== point.x || y !== point.y,
    );
    if (last) heading = last.y === point.y ? across(last, point) : along(last, point);
    legs.push(corners);
    at = point;
  }
  legs.push([at, ...lastLeg(at, to, heading)]);
  return legs;
}

/** The corners of a wire through points, both ends included, without those at which it does not turn. */
export function wayThrough(
  from: Position,
  to: Position,
  points: readonly Position[],
): readonly Position[] {
  const all = legsThrough(from, to, points).flatMap((corners, index) =>
    index === 0 ? corners : corners.slice(1),
  );
  const found: Position[] = [];
  for (const [index, corner] of all.entries()) {
    const [before, after] = [found.at(-1), all[index + 1]];
    if (before?.x === corner.x && before.y === corner.y) continue;
    const between = (axis: "x" | "y") => {
      const other = axis === "x" ? "y" : "x";
      if (before === undefined || after === undefined) return false;
      const same = before[axis] === corner[axis] && corner[axis] === after[axis];
      return same && (before[other] - corner[other]) * (after[other] - corner[other]) <= 0;
    };
    if (!between("x") && !between("y")) found.push(corner);
  }
  return found;
}

/** The place at half of the length of a line. */
export function halfway(points: readonly Position[]): Position {
  const far = (index: number) => {
    const [a, b] = [points[index], points[index + 1]];
    return a && b ? Math.abs(a.x - b.x) + Math.abs(a.y - b.y) : 0;
  };
  let left = points.reduce((sum, _point, index) => sum + far(index), 0) / 2;
  for (let index = 0; index + 1 < points.length; index += 1) {
    const [a, b] = [points[index], points[index + 1]];
    const length = far(index);
    if (a && b && length > 0 && left <= length) {
      const share = left / length;
      return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
    }
    left -= length;
  }
  return points[0] ?? { x: 0, y: 0 };
}
