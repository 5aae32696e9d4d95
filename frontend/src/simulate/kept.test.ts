// @vitest-environment happy-dom
import { notifications } from "@mantine/notifications";
import { afterEach, expect, test, vi } from "vitest";
import type { RawRecord } from "../api/types";
import { addInput, keyOf } from "./kept";
import { newRow } from "./scenario";
import { useSimulation } from "./store";

afterEach(() => {
  vi.unstubAllGlobals();
  useSimulation.getState().close();
  localStorage.clear();
});

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
});

test("a record keeps its headers, of equal names the last", () => {
  const header = (key: string, text: string | null) => ({ ...part("string", text), key });
  const headers = [header("trace", "t1"), header("none", null), header("trace", "t2")];
  addInput(3, "orders", { ...record(part("json", "1")), headers });
  useSimulation.getState().open(3);
  const row = useSimulation.getState().rows[0];
  expect(JSON.parse(row?.headers ?? "")).toEqual({ trace: "t2", none: null });
});

test.each(["{", "null", '{"rows": 1}'])("inputs that cannot be read, %s, are replaced", (text) => {
  localStorage.setItem(keyOf(3), text);
  addInput(3, "orders", record(part("json", "1")));
  useSimulation.getState().open(3);
  expect(useSimulation.getState().rows.map(({ value }) => value)).toEqual(["1"]);
});

test("inputs that the browser cannot store last as long as the page, which says so once", () => {
  const shown = vi.spyOn(notifications, "show");
  vi.stubGlobal("localStorage", {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError");
    },
  });
  const { close, open, setAuto, setRows } = useSimulation.getState();
  const topics = () => useSimulation.getState().rows.map(({ topic }) => topic);
  addInput(4, "orders", record(part("json", "1")));
  expect(shown).toHaveBeenCalledTimes(1);
  open(4);
  setRows([...useSimulation.getState().rows, newRow({ topic: "typed" })]);
  close();
  addInput(4, "users", record(part("json", "2")));
  open(4);
  expect(topics()).toEqual(["orders", "typed", "users"]);
  expect(shown).toHaveBeenCalledTimes(1);

  vi.unstubAllGlobals();
  setAuto(true);
  expect(JSON.parse(localStorage.getItem(keyOf(4)) ?? "")).toMatchObject({
    ...{ auto: true, rows: [{ topic: "orders" }, { topic: "typed" }, { topic: "users" }] },
  });
});
