import { expect, test } from "vitest";
import { aDeployment, aStep } from "../testing/samples";
import { lengthOf, totalOf } from "./steps";

const at = (second: number) => `2026-01-01T09:00:0${second}Z`;

test("a step in work counts up to now, one that has not begun has no time", () => {
  const busy = aStep({ state: "running", started_at: at(1), finished_at: null });
  expect(lengthOf(busy, Date.parse(at(4)))).toBe(3_000);
  expect(lengthOf(aStep({ started_at: null, finished_at: null }), 0)).toBeNull();
});

test("the way up is the sum of its steps, also when the last one was repeated much later", () => {
  const again = { started_at: "2026-01-01T11:00:00Z", finished_at: "2026-01-01T11:00:05Z" };
  const steps = [aStep(), aStep({ name: "start", ...again })];
  expect(totalOf(aDeployment({ steps }))).toBe(6_000);
  expect(totalOf(aDeployment({ steps: [aStep({ finished_at: null })] }))).toBeNull();
});
