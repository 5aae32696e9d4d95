import { expect, test } from "vitest";
import { apartFrom } from "./steps";

test("steps that only one version has are apart, each as often as in the other", () => {
  expect([...apartFrom(["in", "a", "a", "out"], ["in", "a", "b"])]).toEqual([2, 3]);
  expect([...apartFrom(["in"], ["in", "out"])]).toEqual([]);
});
