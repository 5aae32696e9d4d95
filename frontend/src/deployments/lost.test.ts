import { expect, it } from "vitest";
import { lostOf, withLost } from "./lost";

it("fails for lost offsets where nothing was chosen", () => {
  expect(lostOf({})).toBe("fail");
  expect(lostOf({ lost_offsets: "latest" })).toBe("latest");
});

it("leaves the other settings, and names no choice that is the default", () => {
  const chosen = withLost({ cores: 2 }, "earliest");
  expect(chosen).toEqual({ cores: 2, lost_offsets: "earliest" });
  expect(withLost(chosen, "fail")).toEqual({ cores: 2 });
});
