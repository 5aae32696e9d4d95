import { expect, it } from "vitest";
import { CONTINUES, offsetsOf, problemOf, requestOf } from "./beginning";

it("asks nothing for a start that continues", () => {
  expect(requestOf(CONTINUES)).toBeNull();
  expect(problemOf(CONTINUES)).toBeNull();
});

it("reads a line for each partition", () => {
  expect(offsetsOf("orders 0 12\n\n orders 1 5 \nnames 0 0")).toEqual({
    orders: { "0": 12, "1": 5 },
    names: { "0": 0 },
  });
  for (const wrong of ["", "orders 0", "orders 0 x", "orders 0 -1", "orders 0 1 2"]) {
    expect(offsetsOf(wrong)).toBeNull();
    expect(problemOf({ ...CONTINUES, position: "offsets", offsets: wrong })).not.toBeNull();
  }
});

it("sends what belongs to the position, and the reset", () => {
  const time = "2026-01-02T03:04:05";
  expect(requestOf({ position: "time", time, offsets: "orders 0 1", resets: true })).toEqual({
    start_from: { position: "time", time: new Date(time).toISOString() },
    reset: ["stores"],
  });
  const untyped = { ...CONTINUES, position: "time", time: "" } as const;
  expect(problemOf(untyped)).not.toBeNull();
  expect(requestOf(untyped)).toBeNull();
  expect(requestOf({ ...CONTINUES, position: "offsets", offsets: "orders 0 1", time: "" })).toEqual(
    { start_from: { position: "offsets", offsets: { orders: { "0": 1 } } } },
  );
  expect(requestOf({ ...CONTINUES, position: "latest" })).toEqual({
    start_from: { position: "latest" },
  });
});
