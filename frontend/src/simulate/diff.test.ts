import { expect, test } from "vitest";
import { diffText } from "./DiffView";
import { type Actual, diffOf, isShown } from "./diff";

const record = (key: string, timestamp: number, value: unknown, more = {}) => ({
  ...{ topic: "out", key, value, timestamp, after: 1 },
  ...more,
});

function actual(outputs: readonly unknown[], more: Partial<Actual> = {}): Actual {
  return { outputs, output_count: outputs.length, stores: {}, dropped: 0, ...more } as Actual;
}

test("one missing record is one difference, although all later ones stand elsewhere", () => {
  const all = Array.from({ length: 100 }, (_, n) => record(`k${n}`, n, n));
  const diff = diffOf({ outputs: all } as never, actual(all.slice(1)));
  expect(diff.parts).toMatchObject([
    { name: "out", equal: 99, pairs: [{ kind: "missing", expected: { key: "k0" } }] },
  ]);
});

test("records of a key and time are compared field by field", () => {
  const diff = diffOf(
    { outputs: [record("a", 5, { n: 1, total: { sum: 2.0, of: "x" } })] } as never,
    actual([record("a", 5, { n: 1, total: { sum: 3, of: "x" } }), record("b", 6, 1)]),
  );
  expect(diff.parts[0]?.pairs).toMatchObject([
    { kind: "different", fields: [{ path: "value.total.sum", expected: 2, actual: 3 }] },
    { kind: "extra", actual: { key: "b" } },
  ]);
});

test("of a key, records with the same time are paired before others", () => {
  const diff = diffOf(
    { outputs: [record("a", 1, "one"), record("a", 2, "two")] } as never,
    actual([record("a", 2, "TWO")]),
  );
  expect(diff.parts[0]?.pairs).toMatchObject([
    { kind: "missing", expected: { timestamp: 1 } },
    { kind: "different", fields: [{ path: "value", expected: "two", actual: "TWO" }] },
  ]);
});

test("equal records in another order are told as moved, and as few as possible", () => {
  const [a, b, c] = [record("a", 1, 1), record("b", 2, 2), record("c", 3, 3)];
  const diff = diffOf({ outputs: [a, b, c] } as never, actual([c, a, b]));
  expect(diff.parts).toMatchObject([{ equal: 2, pairs: [{ kind: "moved", expected: c }] }]);
});

test("what the test does not set is not compared", () => {
  const outputs = [{ topic: "out", key: "a", value: 1 }];
  const condition = { topic: "other", predicate: "true", records: "any" };
  const given = [record("a", 9, 1, { headers: {} }), record("x", 1, 1, { topic: "other" })];
  const diff = diffOf({ outputs, conditions: [condition] } as never, actual(given));
  expect(diff).toEqual({ parts: [], dropped: null });
  expect(isShown("record_differs", { dropped: 1 })).toBe(false);
  expect(isShown("condition_record", { outputs: [] } as never)).toBe(false);
});

test("rows of stores and the number of drops are part of the diff", () => {
  const row = (key: string, value: number) => ({ key, value, timestamp: 1 });
  const diff = diffOf(
    { stores: { sums: [row("a", 1), row("b", 2)] }, dropped: 1 },
    actual([], { stores: { sums: [row("a", 1), row("b", 3)] }, dropped: 2 }),
  );
  expect(diff.parts).toMatchObject([
    { of: "store", equal: 1, pairs: [{ kind: "different", fields: [{ path: "value" }] }] },
  ]);
  expect(diff.dropped).toEqual({ expected: 1, actual: 2 });
});

test("the text has a line for each record and field, with dates", () => {
  const key = { key: "a", window: { start: 0, end: 60_000 } };
  const diff = diffOf(
    { outputs: [{ ...record("a", 1_000, { n: 1 }), key }], dropped: 0 } as never,
    actual([{ ...record("a", 2_000, { n: 2 }), key }, record("b", 3_000, 7)], { dropped: 4 }),
  );
  expect(diffText(diff)).toBe(
    [
      "Topic out",
      '≠ "a" [1970-01-01 00:00:00 – 1970-01-01 00:01:00] 1970-01-01 00:00:01',
      "    value.n: 1 → 2",
      "    timestamp: 1970-01-01 00:00:01 → 1970-01-01 00:00:02",
      '+ "b" 1970-01-01 00:00:03 7',
      "Dropped records: 0 → 4",
    ].join("\n"),
  );
});
