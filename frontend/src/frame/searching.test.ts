import { expect, test } from "vitest";
import { limited } from "./searching";

test("a search field takes ten words and 200 characters", () => {
  const ten = "a b c d e f g h i j";
  expect(limited(ten)).toBe(ten);
  expect(limited(`${ten} k`)).toBe(`${ten} `);
  expect(limited(` a${" ".repeat(50)}b `)).toBe(` a${" ".repeat(50)}b `);
  expect(limited("x".repeat(300))).toBe("x".repeat(200));
});
