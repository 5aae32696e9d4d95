import { expect, test } from "vitest";
import { centredOn, fitted, isInside, isUnder, visiblePart } from "./visible";

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

test("a drawing that fills the canvas leaves room for the minimap where it has nodes", () => {
  const seen = { left: 0, top: 0, right: 800, bottom: 600 };
  const map = { left: 637, top: 493, right: 785, bottom: 585 };
  const rows = [0, 1, 2, 3, 4, 5].flatMap((row) =>
    [0, 1, 2, 3, 4].map((column) => ({ x: column * 280, y: row * 160, width: 216, height: 72 })),
  );
  const bounds = { x: 0, y: 0, width: 4 * 280 + 216, height: 5 * 160 + 72 };
  const whole = fitted({ all: seen, seen }, bounds, rows);
  expect(rows.some((box) => isUnder(box, whole, map))).toBe(true);
  const beside = fitted({ all: seen, seen, map }, bounds, rows);
  expect(rows.some((box) => isUnder(box, beside, map))).toBe(false);
  expect(beside.zoom).toBeLessThan(whole.zoom);
  const line = rows.slice(0, 5);
  const level = { ...bounds, height: 72 };
  expect(fitted({ all: seen, seen, map }, level, line)).toEqual(
    fitted({ all: seen, seen }, level, line),
  );
});
