import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import type { Verification } from "../api/types";
import { useVerification } from "./verifying";

const calls = vi.fn();
let simulators: ("starting" | "ready")[] = [];
let answers: (Verification | ApiError)[] = [];
async function next(what: string): Promise<Verification> {
  calls(what);
  const found = answers.length > 1 ? answers.shift() : answers[0];
  if (found instanceof ApiError) throw found;
  return found as Verification;
}
vi.mock("../api/compileCalls", () => ({
  prepareSimulator: async () => ({ state: simulators.shift() ?? "ready" }),
  startVerification: () => next("start"),
  getVerification: () => next("get"),
  cancelVerification: async () => calls("cancel"),
}));

const DIFFERENCE = {
  ...{ code: "dropped", message: "dropped: expected 2, got 1" },
  facts: { expected: "2", found: "1" },
};

const at = (over: Partial<Verification>): Verification => ({
  ...{ id: "v1", state: "running", doing: null, differences: null, error: null },
  ...over,
});

beforeEach(() => {
  vi.useFakeTimers();
  calls.mockClear();
});
afterEach(() => vi.useRealTimers());

const second = () => act(() => vi.advanceTimersByTimeAsync(1_000));

test("a comparison shows what it does, and then what differs", async () => {
  simulators = ["starting", "ready"];
  answers = [
    at({ state: "waiting" }),
    at({ doing: "run" }),
    at({ state: "done", differences: [DIFFERENCE] }),
  ];
  const { result } = renderHook(() => useVerification("main", []));
  expect(result.current.comparison).toEqual({ state: "none" });
  act(() => result.current.start());
  await second();
  await second();
  expect(result.current.comparison).toEqual({ state: "running", doing: "run" });
  await second();
  expect(result.current.comparison).toEqual({
    state: "done",
    differences: [DIFFERENCE],
  });
  expect(calls.mock.calls.flat()).toEqual(["start", "get", "get"]);
});

test("one that fails says why, and one that is cancelled ends on the server", async () => {
  const why = { code: "oracle_cannot", facts: {}, message: "No test driver runs it." };
  answers = [at({ state: "waiting" }), at({ state: "failed", error: why })];
  const { result } = renderHook(() => useVerification("main", []));
  act(() => result.current.start());
  await second();
  expect(result.current.comparison).toEqual({
    state: "failed",
    message: "No test driver runs it.",
  });
  calls.mockClear();
  answers = [at({ doing: "jars" })];
  act(() => result.current.start());
  await second();
  expect(result.current.comparison).toMatchObject({ doing: "jars" });
  act(() => result.current.cancel());
  expect(result.current.comparison).toEqual({ state: "none" });
  await second();
  expect(calls).toHaveBeenLastCalledWith("cancel");
});
