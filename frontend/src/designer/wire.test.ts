import { expect, test } from "vitest";
import { NODE_HEIGHT } from "../graph/geometry";
import { chipPlace, wirePath } from "./wire";

const from = { x: 216, y: 100 };
const middle = { x: 248, y: 100 };

test("a type stands on its wire where it has room, and above the nodes where it has none", () => {
  const near = { x: 280, y: 100 };
  const far = { x: 600, y: 100 };
  expect(chipPlace("STRING → BIGINT", from, far, { x: 408, y: 100 })).toEqual({ x: 408, y: 100 });
  const place = chipPlace("STRING → BIGINT", from, near, middle);
  expect(place.x).toBe(248);
  expect(place.y + 9).toBeLessThan(100 - NODE_HEIGHT / 2);
});

test("between two rows of nodes, and on a wire that goes back, a type stays on its wire", () => {
  expect(chipPlace("STRING → BIGINT", from, { x: 280, y: 260 }, middle)).toEqual(middle);
  expect(chipPlace("STRING → BIGINT", from, { x: 100, y: 120 }, middle, 12)).toEqual({
    x: 248,
    y: 88,
  });
});

test("a wire with a way keeps its ends at the ports and its parts straight", () => {
  const way = [
    { x: 0, y: 0 },
    { x: 20, y: 0 },
    { x: 20, y: 60 },
    { x: 90, y: 60 },
  ];
  const { middle, path } = wirePath({ x: 6, y: 0.5 }, { x: 84, y: 60.5 }, way);
  expect(path).toBe("M6 0.5L13 0.5Q20 0.5 20 7.5L20 52.5Q20 60.5 28 60.5L84 60.5");
  expect(middle).toEqual({ x: 20, y: 30.5 });
  // A node that is dragged is elsewhere.
  expect(wirePath({ x: 40, y: 0 }, { x: 84, y: 60 }, way).middle.x).toBe(62);
});
