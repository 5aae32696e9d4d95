import { getSmoothStepPath, Position } from "@xyflow/react";
import type { Position as Place } from "../graph/document";

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
