import { expect, test } from "vitest";
import { trendOf } from "./backlog";
import type { HistoryPoint } from "./runtime";

/** History with one point per second. */
function points(seconds: number, lag: (second: number) => number | null): HistoryPoint[] {
  return Array.from({ length: seconds }, (_, second) => ({
    at: second * 1000,
    inRate: 0,
    outRate: 0,
    lag: lag(second),
  }));
}

test("a lag that shrinks by 100 a second is gone when the rest has been read", () => {
  const trend = trendOf(points(31, (second) => 10_000 - 100 * second));
  expect(trend).toMatchObject({ kind: "catching up" });
  expect(trend?.kind === "catching up" && trend.inMs).toBeGreaterThan(65_000);
  expect(trend?.kind === "catching up" && trend.inMs).toBeLessThan(110_000);
});

test("a lag that grows falls behind, also as a saw of batches", () => {
  const saw = (second: number) => 200 * second + (second % 5) * 1_000;
  expect(trendOf(points(61, saw))).toMatchObject({ kind: "falling behind" });
});

test("a steady saw, a short time, an unknown lag and a lag of nothing have no trend", () => {
  expect(trendOf(points(61, (second) => (second % 5) * 1_000))).toBeNull();
  expect(trendOf(points(61, (second) => 5_000 + (second % 5) * 1_000))).toBeNull();
  expect(trendOf(points(8, (second) => 1_000 * second))).toBeNull();
  expect(trendOf(points(61, () => null))).toBeNull();
  expect(trendOf(points(61, (second) => Math.max(0, 10_000 - 1_000 * second)))).toBeNull();
  expect(trendOf([])).toBeNull();
});
