// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";
import { useView } from "../designer/view";
import { useSimulation } from "../simulate/store";
import { simulateRecord, testOfRecord } from "./simulateRecord";

const asked = vi.fn();
vi.mock("../api/topologyCalls", () => ({
  sampleInputs: async () => ({ inputs: [{ topic: "orders", value: 1 }] }),
}));
const made = vi.fn();
vi.mock("../api/compileCalls", () => ({
  cancelSimulation: async () => undefined,
  createTest: async (...call: unknown[]) => made(...call),
}));
vi.mock("../api/topicCalls", () => ({
  getRecord: async (...call: unknown[]) => {
    asked(...call);
    const part = { text: "x", cut: false, size: 1, error: null, schema_id: null };
    return {
      ...{ partition: 1, offset: 5, timestamp: 7, raw_key: "eA==", raw_value: "AAE=" },
      headers: [{ ...part, format: "string", key: "trace" }],
      key: { ...part, format: "string" },
      value: { ...part, format: "bytes" },
    };
  },
}));

test("the record of a failure becomes the last input, and the inputs are shown", async () => {
  localStorage.clear();
  await simulateRecord("main", 9, { topic: "orders", partition: 1, offset: 5 } as never);
  expect(asked.mock.calls[0]?.slice(0, 4)).toEqual(["main", "orders", 1, 5]);
  expect(useSimulation.getState().rows.at(-1)).toMatchObject({
    ...{ topic: "orders", key: "x", value: "base64:AAE=", timestamp: "7", partition: "1" },
    headers: '{"trace":"x"}',
  });
  expect(useSimulation.getState().view).toBe("inputs");
  expect(useView.getState()).toMatchObject({ bottomTab: "simulate", bottomOpen: true });
  await simulateRecord("main", 9, { topic: "orders" } as never);
  expect(asked).toHaveBeenCalledTimes(1);
});

test("the record of a failure becomes the input of a test, whose outputs are left to fill in", async () => {
  await testOfRecord("main", 9, { topic: "orders", partition: 1, offset: 5 } as never);
  expect(made.mock.calls).toEqual([
    [
      9,
      {
        name: "Record orders-1 at offset 5",
        inputs: [
          {
            ...{ topic: "orders", key: "x", value_bytes: "AAE=", timestamp: 7, partition: 1 },
            headers: { trace: "x" },
          },
        ],
        expected: { dropped: 0 },
      },
    ],
  ]);
  expect(useSimulation.getState().view).toBe("tests");
});
