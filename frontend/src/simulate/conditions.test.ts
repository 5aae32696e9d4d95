import { expect, test } from "vitest";
import type { TopologyDocument } from "../graph/document";
import {
  conditionOf,
  type Expected,
  expectedOf,
  keyOf,
  newCondition,
  partsOf,
  placesOf,
  typedOf,
  withoutCondition,
} from "./conditions";

const EXPECTED = {
  outputs: [
    { topic: "a", key: "k", value: 1 },
    { topic: "b", key: "k", value: 2 },
    { topic: "a", key: "k", value: 3 },
  ],
  stores: { counts: [{ key: "k", value: 1, timestamp: 0 }] },
  dropped: 2,
  conditions: [
    { topic: "a", predicate: "value > 0", records: "every" },
    { store: "counts", predicate: "value = 1", records: 3 },
  ],
} as unknown as Expected;

test("a test is edited and kept as it was", () => {
  const parts = partsOf(EXPECTED);
  expect(parts.map((part) => [keyOf(part), part.count])).toEqual([
    ["topic:a", 2],
    ["topic:b", 1],
    ["store:counts", 1],
    ["dropped:", 2],
  ]);
  const typed = typedOf(EXPECTED);
  expect(typed.map(({ count, place, records }) => [place, records, count])).toEqual([
    ["topic:a", "every", 1],
    ["store:counts", "count", 3],
  ]);
  expect(expectedOf(EXPECTED, new Set(parts.map(keyOf)), typed)).toEqual(EXPECTED);
  expect(expectedOf(EXPECTED, new Set(["dropped:"]), [])).toEqual({ dropped: 2 });
  const none = { outputs: [] } as Expected;
  expect(expectedOf(none, new Set(partsOf(none).map(keyOf)), [])).toEqual({ outputs: [] });
});

test("a topic whose records are not expected exactly needs a condition beside those that are", () => {
  const parts = partsOf(EXPECTED);
  expect(withoutCondition(parts, new Set(["topic:a"]), [])).toEqual(["b"]);
  expect(withoutCondition(parts, new Set(["topic:a"]), [newCondition("topic:b")])).toEqual([]);
  expect(withoutCondition(parts, new Set(["dropped:"]), [])).toEqual([]);
});

test("conditions are about topics that are written and stores with a name", () => {
  const document = {
    ...{ format: "millrace.topology/1", name: "test", edges: [] },
    nodes: [
      { id: "in", kind: "source.stream", params: { topics: ["in"] } },
      { id: "out", kind: "sink.topic", params: { topic: "out" } },
      { id: "kept", kind: "store.key_value", params: { name: "counts" } },
    ],
  } as unknown as TopologyDocument;
  expect(placesOf(document, partsOf(EXPECTED)).map(keyOf)).toEqual([
    "topic:out",
    "topic:a",
    "topic:b",
    "store:counts",
  ]);
  expect(conditionOf({ ...newCondition("store:a:b"), predicate: "true" })).toEqual({
    ...{ store: "a:b", predicate: "true", records: "every" },
  });
});
