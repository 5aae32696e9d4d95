// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { SimulationResult } from "../api/types";
import { editor } from "../commands/kit";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { notesOf, setNotes } from "../graph/drawing";
import { doubleOf, doublesOf, mutedOf, pinsOf, setDouble, setPin } from "../graph/pins";
import { inOrder } from "./ordering";
import {
  deployedOn,
  linesRead,
  partOf,
  partOfTests,
  pinnedLines,
  recordsOf,
  simulatedOn,
  textOf,
} from "./pins";

/** orders → big → out, and a store of `big`. */
function document(): TopologyDocument {
  return {
    ...emptyDocument("part"),
    nodes: [
      { id: "orders", kind: "source.stream", params: { topics: ["orders"] } },
      { id: "big", kind: "filter", params: { predicate: "true" } },
      { id: "out", kind: "sink.topic", params: { topic: "out" } },
      { id: "kept", kind: "store.key_value", params: { name: "kept" } },
    ],
    edges: [
      { source: "orders", target: "big" },
      { source: "big", target: "out" },
      { source: "kept", target: "big", target_port: "store" },
    ],
  };
}

const [FIRST, SECOND] = document().edges as [
  TopologyDocument["edges"][number],
  TopologyDocument["edges"][number],
];
const RECORD = { key: "a", value: { n: 1 }, timestamp: 5 };

test("records are read line by line, and the first wrong line is named", () => {
  const records = [RECORD, { ...RECORD, partition: 1, headers: { h: "x" } }];
  expect(recordsOf(textOf(records))).toEqual({ records, bad: null });
  expect(recordsOf('\n{"value": null}\n').records).toEqual([
    { key: null, value: null, timestamp: 0 },
  ]);
  for (const [line, field, known] of [
    ["{", null, false],
    ["[]", null, false],
    ["3", null, false],
    ['{"topic": "a"}', "topic", false],
    ['{"timestamp": 1.5}', "timestamp", true],
    ['{"partition": -1}', "partition", true],
  ])
    expect(recordsOf(`{}\n\n${line}`).bad).toEqual({ n: 3, field, known });
  expect(recordsOf('{"headers": {"h": 3}}').bad?.field).toBe("headers");
  expect(recordsOf('{"headers": []}').bad).toBe(null);
});

test("pins stay when notes change, and go with their edge", () => {
  const pinned = setPin(document(), SECOND, [RECORD]);
  const noted = setNotes(pinned, [{ id: "why", text: "?" }]);
  expect([pinsOf(noted).length, notesOf(noted).length]).toEqual([1, 1]);
  expect(pinsOf({ ...noted, edges: [FIRST] })).toEqual([]);
  expect(setPin(setNotes(noted, []), SECOND, null).drawing).toBeUndefined();
});

test("nodes are muted and unmuted by a command, which can be undone; stores are not", async () => {
  const { document: now, run, select, undo } = editor(document());
  select("big", "out", "kept");
  expect(await run("mute")).toBe(true);
  expect(mutedOf(now())).toEqual(["big", "out"]);
  await run("mute");
  expect(now().drawing).toBeUndefined();
  await undo();
  expect(mutedOf(now())).toEqual(["big", "out"]);
  select("kept");
  expect(await run("mute")).toBe(false);
});

test("the part has pins and muted nodes only if they are used, and the node up to which it runs", () => {
  expect(partOf(document(), true)).toBeNull();
  expect(partOf(document(), true, "big")).toEqual({ pins: [], muted: [], to: "big" });
  const pinned = setPin(document(), SECOND, [RECORD]);
  expect(partOf(pinned, true)).toEqual({ pins: [{ source: "big", target: "out" }], muted: [] });
  expect(partOf(pinned, false)).toBeNull();
  expect(pinnedLines(pinned)).toEqual([{ ...RECORD, edge: { source: "big", target: "out" } }]);
  const lines = [...pinnedLines(pinned), { topic: "orders", timestamp: 3 }];
  expect(linesRead(pinned, lines, { nodes: ["out"] })).toBe(1);
  expect(linesRead(pinned, lines, undefined)).toBe(2);
});

test("pinned records and inputs are taken by time, the pinned ones of an edge as they are listed", () => {
  const pinned = setPin(document(), SECOND, [RECORD, { ...RECORD, timestamp: 1 }]);
  const lines = [...pinnedLines(pinned), { topic: "orders", timestamp: 3 }];
  expect(inOrder(lines, "time", [])).toEqual([2, 0, 1]);
  expect(inOrder(lines, "listed", [])).toEqual([0, 1, 2]);
});

test("records are taken from a simulation with their partition, and whole ones from a deployment", () => {
  const record = { key: "a", value: 1, timestamp: 7, headers: {} };
  const steps = [
    { event: "record", edge: 1, task: "0_2", record },
    { event: "record", edge: 0, task: "0_2", record },
  ];
  const shown = { document: document(), result: { steps } as unknown as SimulationResult };
  expect(simulatedOn(shown, "big.out>out.in")).toEqual([
    { key: "a", value: 1, timestamp: 7, partition: 2 },
  ]);
  expect(simulatedOn(null, "big.out>out.in")).toEqual([]);
  const place = { number: 1, offset: 0, partition: 1, seen: 0, topic: "orders" };
  const newest = { ...record, ...place, value: 2, headers: { h: "x" } };
  expect(
    deployedOn([newest, { ...record, ...place }, { ...record, ...place, value_cut: true }]),
  ).toEqual([
    { key: "a", value: 1, timestamp: 7 },
    { key: "a", value: 2, timestamp: 7, headers: { h: "x" } },
  ]);
});

test("a double runs in simulations if it is used and alone in tests, and goes with its node", async () => {
  const rows = [{ when: "value.n = 1", value: "value" }];
  const doubled = setDouble(setPin(document(), SECOND, [RECORD]), "big", { rows, passes: true });
  const ran = [{ node: "big", rows, passes: true }];
  expect(partOf(doubled, true)?.doubles).toEqual(ran);
  expect(partOf(doubled, false)).toBeNull();
  expect(partOf(doubled, false, "big")).toEqual({ pins: [], muted: [], to: "big" });
  expect(partOfTests(doubled)).toEqual({ pins: [], muted: [], doubles: ran });
  expect(partOfTests(document())).toBeNull();
  const drawn = editor(doubled);
  drawn.select("orders");
  expect(await drawn.run("double")).toBe(false);
  drawn.select("big");
  expect(await drawn.run("remove-double")).toBe(true);
  expect(doubleOf(drawn.document(), "big")).toBeUndefined();
  expect(pinsOf(drawn.document())).toHaveLength(1);
  await drawn.undo();
  await drawn.run("delete");
  expect(doublesOf(drawn.document())).toEqual([]);
  expect(partOfTests(drawn.document())).toBeNull();
});
