/** What the canvas shows at a zoom, and how large its text is, so that no text is below ten pixels on the screen. */

/**
 * `near`: everything. `middle`: text grows as the drawing shrinks, so that chips on wires have no room. `far`: names alone.
 * `dots`: nodes without text.
 */
export type Distance = "near" | "middle" | "far" | "dots";

const NEAR = 0.84;
const MIDDLE = 0.54;
const FAR = 0.2;

/** Ratio of two neighboring steps: the sizes of text change in steps, and not with every frame of a zoom. */
const STEP = 1.08;

export function distanceAt(zoom: number): Distance {
  return zoom >= NEAR ? "near" : zoom >= MIDDLE ? "middle" : zoom >= FAR ? "far" : "dots";
}

/** The length in the drawing that has at least one pixel on the screen. */
export function pixelAt(zoom: number): number {
  if (zoom >= 1) return 1;
  const step = Math.floor(Math.log(zoom) / Math.log(STEP));
  return Math.round(STEP ** -step * 1000) / 1000;
}
