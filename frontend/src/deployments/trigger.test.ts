import { expect, it } from "vitest";
import { REAL_TIME_MS, triggerOf, triggersOf, withTrigger } from "./trigger";

it("shows micro-batches as fast as they can go where nothing was chosen", () => {
  expect(triggerOf({})).toBe("0");
});

it("takes the place of the other trigger and leaves the rest", () => {
  const chosen = withTrigger({ trigger_ms: 500, cores: 2 }, "real-time");
  expect(chosen).toEqual({ cores: 2, real_time_ms: REAL_TIME_MS });
  expect(triggerOf(chosen)).toBe("real-time");
  expect(withTrigger(chosen, "1000")).toEqual({ cores: 2, trigger_ms: 1000 });
});

it("keeps how often real time keeps its state", () => {
  expect(withTrigger({ real_time_ms: 60_000 }, "real-time").real_time_ms).toBe(60_000);
});

it("offers real time only where the code has it", () => {
  const values = (dialect: "exact" | "plain") => triggersOf({ dialect }).map(({ value }) => value);
  expect(values("exact")).toContain("real-time");
  expect(values("plain")).toEqual(["0", "500", "1000", "10000"]);
});
