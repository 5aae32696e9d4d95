import { getSmoothStepPath, Position } from "@xyflow/react";
import type { Position as Place } from "../graph/document";
import { NODE_HEIGHT } from "../graph/geometry";
import { segments } from "../graph/routing";

/** The radius of a wire's corners. */
const RADIUS = 8;
/** How far the ends of a wire may be from the ports of its way, which lie on the border of the nodes. */
const NEAR = 8;

const apart = (one: Place, other: Place) =>
  Math.max(Math.abs(one.x - other.x), Math.abs(one.y - other.y));

/** A line through these corners, which are rounded. */
function rounded(points: readonly Place[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let path = `M${first.x} ${first.y}`;
  for (const [index, corner] of rest.entries()) {
    const before = points[index] ?? corner;
    const after = rest[index + 1];
    if (after === undefined) {
      path += `L${corner.x} ${corner.y}`;
      continue;
    }
    const radius = Math.min(RADIUS, apart(before, corner) / 2, apart(corner, after) / 2);
    const towards = (end: Place) => {
      const length = apart(corner, end) || 1;
      const x = corner.x + ((end.x - corner.x) / length) * radius;
      const y = corner.y + ((end.y - corner.y) / length) * radius;
      return `${x} ${y}`;
    };
    path += `L${towards(before)}Q${corner.x} ${corner.y} ${towards(after)}`;
  }
  return path;
}

/** The middle of the part in the middle of a wire, or of its longest part if it passes nodes. */
function middleOf(points: readonly Place[]): Place {
  const parts = segments(points);
  const [from, to] =
    parts.length === 3
      ? (parts[1] ?? [])
      : ([...parts].sort(([a, b], [c, d]) => apart(c, d) - apart(a, b))[0] ?? []);
  if (from === undefined || to === undefined) return points[0] ?? { x: 0, y: 0 };
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}

/**
 * The path of a wire from an output to an input, and the middle of it. `way` has its corners while both nodes are where
 * the document says; a wire of a node that is being dragged takes none.
 */
export function wirePath(
  from: Place,
  to: Place,
  way: readonly Place[] | null = null,
): { path: string; middle: Place } {
  const [start, end] = [way?.[0], way?.at(-1)];
  if (way && start && end && apart(start, from) <= NEAR && apart(end, to) <= NEAR) {
    // The ports are drawn on the border, so that their heights differ from those of the way by a part of a pixel.
    const corners = way.slice(1, -1).map((corner, index, all) => {
      if (index === 0) return { ...corner, y: from.y };
      return index === all.length - 1 ? { ...corner, y: to.y } : corner;
    });
    const points = [from, ...corners, to];
    return { path: rounded(points), middle: middleOf(points) };
  }
  const gap = to.x - from.x;
  const [path, x, y] = getSmoothStepPath({
    sourceX: from.x,
    sourceY: from.y,
    sourcePosition: Position.Right,
    targetX: to.x,
    targetY: to.y,
    targetPosition: Position.Left,
    borderRadius: RADIUS,
    // In a narrow gap the wire turns in its middle.
    offset: gap > 0 ? Math.max(4, Math.min(20, gap / 2 - 1)) : 20,
  });
  return { path, middle: { x, y } };
}

/** The width of a character of a chip, and the chip's padding plus a margin, in pixels. */
const CHARACTER = 6.7;
const AIR = 26;
/** How far above the middle of the nodes a chip is placed that does not fit between them. */
const ABOVE = NODE_HEIGHT / 2 + 12;

/**
 * The place of a chip with a text: at the middle of the wire if it fits between the two nodes, else above them, so that
 * it does not cover an icon or title. `level` is its preferred distance above the wire.
 */
export function chipPlace(text: string, from: Place, to: Place, middle: Place, level = 0): Place {
  const gap = to.x - from.x;
  const fits = text.length * CHARACTER + AIR <= gap;
  const apart = Math.abs(to.y - from.y) > 2 * ABOVE;
  if (fits || gap < 0 || apart) return { x: middle.x, y: middle.y - level };
  return { x: middle.x, y: Math.min(from.y, to.y) - ABOVE };
}
