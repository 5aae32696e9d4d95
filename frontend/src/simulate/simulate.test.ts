import { describe, expect, it } from "vitest";
import type { SimulationStep } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { moved } from "./moves";
import {
  bytesCell,
  CLOCK,
  exactly,
  linesOf,
  newRow,
  rowOf,
  rowsOfText,
  sourcesFor,
  sourcesOf,
} from "./scenario";
import { childrenOf, endingOf, storesAt, streamTimes, writesOf } from "./steps";
import type { Shown } from "./store";
import { dropText, endingText, stepTitle } from "./words";

const DOCUMENT: TopologyDocument = {
  format: "millrace.topology/1",
  name: "orders",
  nodes: [
    {
      id: "orders",
      kind: "source.stream",
      params: {
        topics: ["orders"],
        key: { format: "string" },
        value: { format: "json", schema: "item STRING, quantity INT, ordered_at BIGINT" },
        timestamp: "value.ordered_at",
      },
    },
    { id: "valid", kind: "filter", params: { predicate: "value.quantity > 0" } },
    { id: "out", kind: "sink.topic", params: { topic: "out" } },
  ],
  edges: [
    { source: "orders", target: "valid" },
    { source: "valid", target: "out" },
  ],
};
const SOURCES = sourcesOf(DOCUMENT);

function record(seq: number, after: number, node: string, parent: number | null): SimulationStep {
  const value = { key: "k", value: 1, timestamp: 5, headers: {} };
  return { seq, after, node, parent, event: "record", record: value, task: "0_0", stream_time: 5 };
}

const LATE: SimulationStep = {
  seq: 2,
  parent: 1,
  after: 1,
  event: "drop",
  node: "valid",
  reason: "late",
  window_start: 0,
  window_end: 3_600_000,
  closed_until: 3_660_000,
};

describe("inputs", () => {
  it("become lines by the formats of their topic", () => {
    const rows = [
      newRow({ topic: "orders", key: "ann", value: '{"quantity": 2}', timestamp: "60000" }),
      newRow({
        topic: "orders",
        timestamp: "1970-01-01 00:02",
        partition: "1",
        headers: '{"a":"b"}',
      }),
      newRow({ topic: CLOCK, timestamp: "1000" }),
    ];
    expect(linesOf(rows, SOURCES)).toEqual({
      bad: [],
      lines: [
        { topic: "orders", key: "ann", value: { quantity: 2 }, timestamp: 60_000 },
        {
          topic: "orders",
          key: null,
          value: null,
          timestamp: 120_000,
          partition: 1,
          headers: { a: "b" },
        },
        { advance_wall_clock: 1000 },
      ],
    });
  });

  it("of a poison record are its exact bytes, so that it runs and fails as in production", () => {
    const cells = { topic: "orders", key: "ann", value: '{"quantity": ' };
    const raw = { raw_key: btoa("ann"), raw_value: btoa('{"quantity": ') };
    const made = exactly(cells, raw, SOURCES);
    expect(made).toEqual({ ...cells, value: `base64:${raw.raw_value}` });
    const { bad, lines } = linesOf([newRow(made)], SOURCES);
    expect(bad).toEqual([]);
    expect(lines).toEqual([
      { topic: "orders", key: "ann", value_bytes: raw.raw_value, timestamp: 0 },
    ]);
    const long = '{"quantity": 12345678901234567890}';
    const kept = exactly({ ...cells, value: long }, { ...raw, raw_value: btoa(long) }, SOURCES);
    expect(kept.value).toBe(`base64:${btoa(long)}`);
    const fine = '{"quantity": 2}';
    expect(
      exactly({ ...cells, value: fine }, { ...raw, raw_value: btoa(fine) }, SOURCES).value,
    ).toBe(fine);
  });

  it("can be bytes in hexadecimal digits and in base64", () => {
    const rows = [newRow({ topic: "orders", key: "hex:00 fF", value: bytesCell("{ü") })];
    const [line] = linesOf(rows, SOURCES).lines;
    expect(line).toMatchObject({ key_bytes: "AP8=", value_bytes: "e8O8" });
    const odd = [newRow({ topic: "orders", key: "hex:0" })];
    expect(linesOf(odd, SOURCES).bad).toEqual([{ row: 0, column: "key" }]);
  });

  it("of topics that match a pattern have the formats of its source", () => {
    const text = { format: "string" };
    const params = { topic_pattern: "eu-.*", key: text, value: text };
    const document = { ...DOCUMENT, nodes: [{ id: "all", kind: "source.stream", params }] };
    const rows = [newRow({ topic: "eu-1", key: "a", value: "plain" }), newRow({ topic: "us-1" })];
    const sources = sourcesFor(document, rows);
    expect(sources.map((each) => [each.topic, each.node.id])).toEqual([["eu-1", "all"]]);
    expect(linesOf(rows.slice(0, 1), sources).lines[0]).toMatchObject({ value: "plain" });
  });

  it("that cannot be read are named by row and column", () => {
    const rows = [newRow({ topic: "orders", value: "{", timestamp: "soon", partition: "-1" })];
    expect(linesOf(rows, SOURCES).bad.map((each) => each.column)).toEqual([
      "value",
      "timestamp",
      "partition",
    ]);
  });

  it("come from JSON lines, an array or CSV", async () => {
    const line = '{"topic":"orders","key":"a","value":{"quantity":1},"timestamp":7}';
    const csv = 'key,value,timestamp\na,"{""quantity"":1}",7';
    for (const text of [line, `[${line}]`, csv]) {
      const [row] = await rowsOfText(text, SOURCES);
      expect(row).toMatchObject({
        topic: "orders",
        key: "a",
        value: '{"quantity":1}',
        timestamp: "7",
      });
    }
    await expect(rowsOfText(`${line}\n{oops}`, SOURCES)).rejects.toThrow("2");
  });

  it("come from cells with line breaks, and from a spreadsheet's tabs", async () => {
    const quoted = await rowsOfText('key,value\n"a","one\ntwo, three"\n\nb,c', SOURCES);
    expect(quoted.map((row) => [row.key, row.value])).toEqual([
      ["a", "one\ntwo, three"],
      ["b", "c"],
    ]);
    const [pasted] = await rowsOfText("Key\tValue\na\tone; two, three", SOURCES);
    expect([pasted?.key, pasted?.value]).toEqual(["a", "one; two, three"]);
  });

  it("are refused with the line of a cell too many or of a quote without end", async () => {
    await expect(rowsOfText("key,value\na,b\na,b,c", SOURCES)).rejects.toThrow("3");
    await expect(rowsOfText('key,value\na,b\na,"b', SOURCES)).rejects.toThrow("3");
    await expect(rowsOfText("one,two\na,b", SOURCES)).rejects.toThrow("1");
  });

  it("keep bytes that no format can read", () => {
    const line = { topic: "orders", key: "a", value_bytes: "eyJh", timestamp: 7 };
    const row = rowOf(line, SOURCES);
    expect(row.value).toBe("base64:eyJh");
    expect(linesOf([row], SOURCES)).toEqual({ lines: [line], bad: [] });
    const bad = linesOf([{ ...row, value: "base64:?" }], SOURCES).bad;
    expect(bad).toEqual([{ row: 0, column: "value" }]);
  });
});

describe("steps", () => {
  const write = (seq: number, key: string, value: unknown): SimulationStep => ({
    seq,
    parent: 0,
    after: 1,
    event: "store",
    node: "valid",
    store: "kept",
    row: { key, value, timestamp: 1 },
  });

  it("lead to the contents of the stores", () => {
    const steps = [
      record(0, 1, "valid", null),
      write(1, "a", 1),
      write(2, "b", 2),
      record(3, 2, "valid", null),
      write(4, "a", null),
    ];
    expect(
      storesAt(steps, 0)
        .get("kept")
        ?.map((row) => row.key),
    ).toEqual(["a", "b"]);
    expect(
      storesAt(steps, 3)
        .get("kept")
        ?.map((row) => row.key),
    ).toEqual(["b"]);
    const row = { key: "a", value: null, timestamp: 1, tombstone: true };
    const versions = [...steps, { ...write(5, "a", null), row }];
    expect(storesAt(versions, 5).get("kept")).toHaveLength(2);
    expect(writesOf(steps, 3).get("kept")).toEqual(new Set(['"a"']));
    expect(streamTimes(steps, 0)).toEqual(new Map([["0_0", 5]]));
  });

  it("say why a record was dropped, with the times", () => {
    const caused = { ...record(1, 1, "valid", 0), stream_time: 4_260_000 };
    expect(dropText(LATE, caused)).toBe(
      "Late by 1 min: its window 1970-01-01 00:00:00 – 1970-01-01 01:00:00 closed when stream " +
        "time reached 1970-01-01 01:10:00. Stream time is 1970-01-01 01:11:00. " +
        "A longer grace period would accept it.",
    );
    expect(dropText({ ...LATE, reason: "null_key" }, caused)).toContain("key is null");
    expect(dropText({ ...LATE, dead_letter: true }, caused)).toContain("dead letter topic");
  });

  it("distinguish a filtered record from one that went on", () => {
    const steps = [
      record(0, 1, "orders", null),
      record(1, 1, "valid", 0),
      { ...record(2, 1, "valid", 1), event: "end", reason: "filtered" },
      record(3, 2, "valid", null),
      record(4, 2, "out", 3),
    ];
    const children = childrenOf(steps);
    const endings = steps.map((step) => endingOf(step, children));
    expect(endings).toEqual([null, "filtered", null, null, null]);
    expect(endingText(DOCUMENT, steps[2] as SimulationStep, "filtered")).toBe(
      "Filtered out: “value.quantity > 0” is not true for it.",
    );
  });

  it("do not say that a record ended because it went on in another task", () => {
    const steps = [record(0, 1, "valid", null), { ...record(1, 1, "valid", null), inside: true }];
    const children = childrenOf(steps);
    expect(steps.map((step) => endingOf(step, children))).toEqual([null, null]);
    expect(steps.map((step) => stepTitle(DOCUMENT, step))).toEqual([
      "Record 1 enters valid",
      "Record 1 continues in valid, in task 0_0, after its repartition topic",
    ]);
  });

  it("are walked by step, by record, to the next that ended, and at one node", () => {
    const steps = [
      record(0, 1, "orders", null),
      record(1, 1, "valid", 0),
      LATE,
      record(3, 2, "orders", null),
      write(4, "a", 1),
      record(5, 2, "valid", 3),
      record(6, 2, "out", 5),
    ];
    const shown = {
      document: DOCUMENT,
      lines: 2,
      seconds: 0,
      result: { steps },
    } as unknown as Shown;
    expect(moved(shown, 0, "next")).toBe(1);
    expect(moved(shown, 5, "back")).toBe(3);
    expect(moved(shown, 0, "recordNext")).toBe(3);
    expect(moved(shown, 5, "recordBack")).toBe(3);
    expect(moved(shown, 3, "recordBack")).toBe(0);
    expect(moved(shown, 0, "dropNext")).toBe(2);
    expect(moved(shown, 0, "next", { node: "out", text: "" })).toBe(6);
    expect(moved(shown, 0, "last")).toBe(6);
    expect(moved(shown, 6, "first")).toBe(0);
    expect(moved(shown, 6, "next")).toBe(6);
  });

  it("are walked at the records that contain a text", () => {
    const bread = { key: "ann", value: { item: "Bread" }, timestamp: 5, headers: {} };
    const steps = [
      record(0, 1, "orders", null),
      { ...record(1, 2, "orders", null), record: bread },
      { ...LATE, seq: 2, after: 2 },
      record(3, 3, "orders", null),
    ];
    const shown = { document: DOCUMENT, result: { steps } } as unknown as Shown;
    const text = { node: null, text: "bread " };
    expect(moved(shown, 0, "next", text)).toBe(1);
    // A step without a record belongs to the record that caused it.
    expect(moved(shown, 1, "next", text)).toBe(2);
    expect(moved(shown, 2, "next", text)).toBe(2);
    expect(moved(shown, 3, "first", { node: "valid", text: "ANN" })).toBe(2);
    expect(moved(shown, 0, "next", { node: null, text: "milk" })).toBe(0);
  });
});
