import { expect, test } from "vitest";
import type { RawRecord } from "../api/types";
import { addInput, keyOf } from "./kept";

const part = (format: string, text: string | null, cut = false) => ({
  ...{ format, text, cut, size: 1, error: null, schema_id: null },
});

function record(value: RawRecord["value"]): RawRecord {
  return {
    ...{ partition: 1, offset: 5, timestamp: 7, log_append_time: false, size: 2, headers: [] },
    key: part("string", "ann"),
    value,
    raw_key: "YW5u",
    raw_value: "AAE=",
  };
}

test("a record stands behind the inputs that there are, as text or as its bytes", () => {
  localStorage.setItem(keyOf(3), JSON.stringify({ auto: true, rows: [{ topic: "a" }] }));
  addInput(3, "orders", record(part("json", '{"n": 1}')));
  addInput(3, "orders", record(part("avro", '{"n": 1}')));
  addInput(3, "orders", record(part("json", '{"n', true)));
  const kept = JSON.parse(localStorage.getItem(keyOf(3)) ?? "");
  expect(kept.auto).toBe(true);
  expect(kept.rows.map((row: { value?: string }) => row.value)).toEqual([
    undefined,
    '{"n": 1}',
    "base64:AAE=",
    "base64:AAE=",
  ]);
  expect(kept.rows[1]).toMatchObject({ topic: "orders", key: "ann", partition: "1" });
  localStorage.removeItem(keyOf(3));
});
