import { expect, test } from "vitest";
import { centredOn, isInside, visiblePart } from "./visible";

const CANVAS = { left: 200, top: 50, right: 1000, bottom: 550 };
const MESSAGES = { left: 212, top: 100, right: 988, bottom: 250 };
const MARGIN = { left: 10, top: 10, right: 10, bottom: 10 };

test("what a message covers is not visible", () => {
  expect(visiblePart(CANVAS, null)).toEqual(CANVAS);
  expect(visiblePart(CANVAS, { ...MESSAGES, bottom: MESSAGES.top })).toEqual(CANVAS);
  const seen = visiblePart(CANVAS, MESSAGES);
  expect(seen).toEqual({ ...CANVAS, top: 250 });
  expect(isInside({ x: 600, y: 200 }, CANVAS, MARGIN)).toBe(true);
  expect(isInside({ x: 600, y: 200 }, seen, MARGIN)).toBe(false);
});

test("a node is moved to the middle of the visible part", () => {
  const seen = visiblePart(CANVAS, MESSAGES);
  const { x, y, zoom } = centredOn({ x: 30, y: 40 }, 2, CANVAS, seen);
  // Where React Flow draws the point: relative to the canvas, scaled and moved.
  expect([CANVAS.left + 30 * zoom + x, CANVAS.top + 40 * zoom + y]).toEqual([600, 400]);
});
