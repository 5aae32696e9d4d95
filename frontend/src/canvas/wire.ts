import { getSmoothStepPath, Position } from "@xyflow/react";
import type { Position as Place } from "../graph/document";
import { NODE_HEIGHT } from "../graph/geometry";

/** The path of a wire from an output to an input, and the middle of it. */
export function wirePath(from: Place, to: Place): { path: string; middle: Place } {
  const gap = to.x - from.x;
  const [path, x, y] = getSmoothStepPath({
    sourceX: from.x,
    sourceY: from.y,
    sourcePosition: Position.Right,
    targetX: to.x,
    targetY: to.y,
    targetPosition: Position.Left,
    borderRadius: 8,
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
