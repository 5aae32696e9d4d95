/** The part of the canvas that a person sees: messages lie over its upper end, the minimap over a corner. */

import { getViewportForBounds, type Viewport } from "@xyflow/react";
import type { Position } from "../graph/document";
import type { Box } from "../graph/geometry";

/** An area of the screen, in pixels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The canvas without what messages cover; all of it if there are none. */
export function visiblePart(canvas: Area, messages: Area | null): Area {
  const { bottom, left, right, top } = canvas;
  const covered = messages !== null && messages.bottom > messages.top;
  return { left, right, bottom, top: covered ? Math.min(messages.bottom, bottom) : top };
}

/** The canvas, its visible part, and the minimap; null before the canvas is mounted. */
export function areasOf(box: HTMLElement | null): Areas | null {
  if (box === null) return null;
  const messages = box.querySelector(":scope > .canvas-messages");
  const all = box.getBoundingClientRect();
  const seen = visiblePart(all, messages?.getBoundingClientRect() ?? null);
  return { all, seen, map: box.querySelector(".react-flow__minimap")?.getBoundingClientRect() };
}

export interface Areas {
  readonly all: Area;
  readonly seen: Area;
  /** The minimap, in the lower right corner, if it is shown. */
  readonly map?: Area | undefined;
}

/** The distance of a drawing from the edges of what it fills, in pixels. */
const AROUND = { top: 64, right: 40, bottom: 64, left: 40 };
const ZOOMS = [0.15, 1] as const;

/** Whether a box of the drawing is under an area of the canvas, in pixels from its upper left corner. */
export function isUnder({ height, width, x, y }: Box, view: Viewport, area: Area): boolean {
  const [left, top] = [x * view.zoom + view.x, y * view.zoom + view.y];
  const [right, bottom] = [left + width * view.zoom, top + height * view.zoom];
  return left < area.right && right > area.left && top < area.bottom && bottom > area.top;
}

/** The viewport in which boxes fill the visible part of the canvas, and none of them is under the minimap. */
export function fitted({ all, map, seen }: Areas, bounds: Box, boxes: readonly Box[]): Viewport {
  const [width, height] = [all.right - all.left, all.bottom - all.top];
  const within = (more: Partial<typeof AROUND>) => {
    const { bottom, left, right, top } = { ...AROUND, ...more };
    return getViewportForBounds(bounds, width, height, ...ZOOMS, {
      top: `${top + seen.top - all.top}px`,
      right: `${right}px`,
      bottom: `${bottom}px`,
      left: `${left}px`,
    });
  };
  const whole = within({});
  if (map === undefined) return whole;
  const corner = {
    left: map.left - all.left,
    top: map.top - all.top,
    right: map.right - all.left,
    bottom: map.bottom - all.top,
  };
  if (!boxes.some((box) => isUnder(box, whole, corner))) return whole;
  const beside = within({ right: width - corner.left + GAP });
  const above = within({ bottom: height - corner.top + GAP });
  return beside.zoom > above.zoom ? beside : above;
}

/** The distance of the drawing from the minimap. */
const GAP = 16;

/** Whether a point of the screen is in an area, away from its edges by a margin. */
export function isInside(point: Position, area: Area, margin: Area): boolean {
  return (
    point.x > area.left + margin.left &&
    point.x < area.right - margin.right &&
    point.y > area.top + margin.top &&
    point.y < area.bottom - margin.bottom
  );
}

/** The viewport in which a point of the document is in the middle of the visible part. */
export function centredOn(point: Position, zoom: number, all: Area, seen: Area) {
  return {
    x: (seen.left + seen.right) / 2 - all.left - point.x * zoom,
    y: (seen.top + seen.bottom) / 2 - all.top - point.y * zoom,
    zoom,
  };
}
