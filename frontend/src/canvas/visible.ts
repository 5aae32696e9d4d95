/** The part of the canvas that a person sees: messages lie over its upper end. */

import type { Position } from "../graph/document";

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

/** The canvas and its visible part; null before the canvas is mounted. */
export function areasOf(box: HTMLElement | null) {
  if (box === null) return null;
  const messages = box.querySelector(":scope > .canvas-messages");
  const all = box.getBoundingClientRect();
  return { all, seen: visiblePart(all, messages?.getBoundingClientRect() ?? null) };
}

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
