import { expect, test } from "vitest";
import { distanceAt, pixelAt } from "./scale";

test("a length of one pixel has a pixel at every zoom, and hardly more", () => {
  for (let zoom = 0.1; zoom <= 2.5; zoom += 0.013) {
    expect(pixelAt(zoom) * Math.min(zoom, 1)).toBeGreaterThanOrEqual(0.999);
    expect(pixelAt(zoom) * Math.min(zoom, 1)).toBeLessThan(1.09);
  }
});

test("what is shown decreases with the zoom", () => {
  expect([1, 0.8, 0.5, 0.15].map(distanceAt)).toEqual(["near", "middle", "far", "dots"]);
});
