import { describe, expect, test } from "vitest";
import type { CompileResult, Diagnostic } from "../api/types";
import { emptyDocument, type TopologyDocument } from "../graph/document";
import { durationText } from "../graph/durations";
import { about, at, elsewhere, offsetOf } from "../problems/places";
import { columnsOf } from "./columns";
import { completions } from "./editor/complete";
import { asText, moved, withPart } from "./widgets/widget";

const DOCUMENT: TopologyDocument = {
  ...emptyDocument("test"),
  nodes: [
    {
      id: "in",
      kind: "source.stream",
      params: { value: { format: "json", schema: "a INT" }, key: { format: "string" } },
    },
    { id: "t", kind: "source.table" },
    { id: "j", kind: "join.stream_table" },
    { id: "g", kind: "aggregate", params: { type: "STRUCT<sum: BIGINT>" } },
  ],
  edges: [
    { source: "in", target: "j", target_port: "left" },
    { source: "t", target: "j", target_port: "right" },
    { source: "j", target: "g" },
  ],
};

const RESULT: CompileResult = {
  revision: 1,
  diagnostics: [],
  ports: {
    in: { out: { role: "stream", key: "STRING", value: "STRUCT<a: INT>", key_changed: false } },
    t: { out: { role: "table", key: "STRING", value: "STRUCT<city: STRING>", key_changed: false } },
    j: { out: { role: "stream", key: "STRING", value: "STRUCT<x: INT>", key_changed: false } },
  },
  plan: null,
  summary: {},
  code: null,
};

function names(context: string, id: string): string[] {
  const node = DOCUMENT.nodes.find((each) => each.id === id);
  if (node === undefined) throw new Error(id);
  return columnsOf(context, node, DOCUMENT, RESULT).map((column) => column.name);
}

function diagnostic(parameter: string, path?: string): Diagnostic {
  return {
    code: "expression",
    severity: "error",
    node: "a",
    parameter,
    path: path ?? null,
    message: "",
    hint: "",
    facts: {},
    position: null,
    blocks: "compile",
  };
}

describe("columns in reach", () => {
  test("a record, a join, an aggregate and a merger see what the compiler says they see", () => {
    expect(names("record", "g")).toEqual([
      "key",
      "value",
      "timestamp",
      "headers",
      "topic",
      "partition",
      "offset",
    ]);
    expect(names("join", "j")).toEqual(["key", "left", "right", "timestamp"]);
    expect(names("aggregate", "g")).toEqual(["agg", "key", "value", "timestamp"]);
    expect(names("merger", "g")).toEqual(["key", "left", "right"]);
    expect(names("none", "g")).toEqual([]);
  });

  test("types come from what flows in, and for a source from its formats", () => {
    const join = DOCUMENT.nodes[2];
    const source = DOCUMENT.nodes[0];
    if (join === undefined || source === undefined) throw new Error("missing");
    const right = columnsOf("join", join, DOCUMENT, RESULT).find(
      (column) => column.name === "right",
    );
    expect(right?.type?.fields.map((field) => field.name)).toEqual(["city"]);
    const formats = [
      { format: "string", type: "STRING", title: "", description: "", properties: [] },
    ];
    const own = columnsOf("record", source, DOCUMENT, null, formats);
    expect(own.find((column) => column.name === "key")?.type?.name).toBe("STRING");
    expect(own.find((column) => column.name === "value")?.type?.fields[0]?.name).toBe("a");
  });

  test("completion offers the fields behind a dot, columns before functions", () => {
    const node = DOCUMENT.nodes[3];
    if (node === undefined) throw new Error("missing");
    const columns = columnsOf("record", node, DOCUMENT, RESULT);
    const source = completions(columns, [{ name: "upper", usage: "upper(str)", description: "" }]);
    const ask = (text: string) =>
      source({
        pos: text.length,
        explicit: false,
        matchBefore: (expression: RegExp) => {
          const match = new RegExp(`(?:${expression.source})$`).exec(text);
          return match === null ? null : { from: match.index, to: text.length, text: match[0] };
        },
      } as Parameters<typeof source>[0]);
    expect(ask("1 + value.")?.options.map((option) => option.label)).toEqual(["x"]);
    const plain = ask("v")?.options ?? [];
    expect(plain.find((option) => option.label === "value")?.boost).toBeGreaterThan(
      plain.find((option) => option.label === "upper")?.boost ?? 0,
    );
    expect(ask("nothing.")).toBeNull();
  });
});

describe("problems of fields", () => {
  const all = [
    diagnostic("branches", "branches[0].predicate"),
    diagnostic("branches", "branches[1].port"),
    diagnostic("branches"),
    diagnostic("default_port"),
  ];

  test("each goes to the exact place", () => {
    expect(about(all, "branches")).toHaveLength(3);
    expect(at(all, "branches[0].predicate")).toHaveLength(1);
    expect(
      elsewhere(about(all, "branches"), ["branches[0].predicate", "branches[1].port"]),
    ).toHaveLength(1);
  });
});

describe("places", () => {
  test("characters beyond the first plane are two units of a text", () => {
    const text = "'😀' || itme";
    expect(text.slice(offsetOf(text, 7), offsetOf(text, 11))).toBe("itme");
    expect([0, 1, 2, 3, 99].map((each) => offsetOf("a😀b", each))).toEqual([0, 1, 3, 4, 4]);
  });
});

describe("values", () => {
  test("whatever stands in the document can be shown as text", () => {
    expect([undefined, null, "a", 3, true, { a: 1 }].map(asText)).toEqual([
      "",
      "",
      "a",
      "3",
      "true",
      '{"a":1}',
    ]);
  });

  test("parts are set and taken out, rows are moved", () => {
    expect(withPart({ a: 1 }, "b", 2)).toEqual({ a: 1, b: 2 });
    expect(withPart({ a: 1, b: 2 }, "b", undefined)).toEqual({ a: 1 });
    expect(withPart("not an object", "a", 1)).toEqual({ a: 1 });
    expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  });

  test("durations are written as people would", () => {
    expect([3_600_000, 300_000, 1000, 250, 0].map(durationText)).toEqual([
      "1 hour",
      "5 minutes",
      "1 second",
      "250 ms",
      "0 ms",
    ]);
  });
});
