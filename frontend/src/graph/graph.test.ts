import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { iconExists, iconNames } from "../../kindIcons.ts";
import { CATALOG } from "../commands/kit";
import { areasOf } from "./areas";
import { isAsked, portsOf, startingParams } from "./catalog";
import {
  connect,
  insertOnEdge,
  moveChild,
  reconnect,
  removeAndReconnect,
  setParam,
  setPartitions,
} from "./changes";
import { firstFit, refusal } from "./connect";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  emptyDocument,
  findNode,
  type Json,
  readDocument,
  type TopologyDocument,
} from "./document";
import { durationText, milliseconds } from "./durations";
import { boundsOf, portTop, sizeOf, snap } from "./geometry";
import {
  EMPTY_HISTORY,
  readHistory,
  remember,
  stepBack,
  stepForward,
  writeHistory,
} from "./history";
import { align, distribute, layout } from "./layout";
import { inOrder } from "./order";
import { roleOfOutput } from "./roles";
import { searchKinds, searchNodes } from "./search";
import { storeClasses } from "./stores";
import { readType, shortType, typeAt, writeType } from "./types";

function node(
  id: string,
  kind: string,
  params: Record<string, Json> = {},
  x = 0,
  y = 0,
): DocumentNode {
  return { id, kind, params, position: { x, y } };
}

function design(nodes: DocumentNode[], ...edges: [string, string][]): TopologyDocument {
  const split = (text: string, usual: string) => {
    const [id = "", port = usual] = text.split(".");
    return { id, port };
  };
  const list = edges.map(([from, to]): DocumentEdge => {
    const source = split(from, "out");
    const target = split(to, "in");
    return {
      source: source.id,
      target: target.id,
      ...(source.port === "out" ? {} : { source_port: source.port }),
      ...(target.port === "in" ? {} : { target_port: target.port }),
    };
  });
  return { ...emptyDocument("test"), nodes, edges: list };
}

describe("documents", () => {
  test("JSON of unknown origin becomes a document or nothing", () => {
    expect(readDocument(null)).toBeNull();
    expect(readDocument({ nodes: "all" })).toBeNull();
    const read = readDocument({
      nodes: [{ id: "a", kind: "filter" }, { id: 3 }, "b"],
      edges: [
        { source: "a", target: "gone" },
        { source: "a", target: "a" },
      ],
      kept: "as it is",
    });
    expect(read?.nodes.map((each) => each.id)).toEqual(["a"]);
    expect(read?.edges).toHaveLength(1);
    expect(read).toMatchObject({ kept: "as it is" });
  });

  test("durations are numbers of milliseconds or text", () => {
    expect(milliseconds("5 minutes")).toBe(300_000);
    expect(milliseconds("1 hour")).toBe(3_600_000);
    expect(milliseconds("-3 seconds")).toBe(-3000);
    expect(milliseconds(250)).toBe(250);
    expect(milliseconds("soon")).toBeNull();
    expect(milliseconds(1.5)).toBeNull();
  });

  test("durations are taken as people type them and written in one way", () => {
    const typed = {
      "1h": "1 hour",
      "10 min": "10 minutes",
      "2 days": "2 days",
      "1.5 h": "90 minutes",
    };
    const more = {
      "1h 30m": "90 minutes",
      "250ms": "250 ms",
      "1 周": "7 days",
      "-5 s": "-5 seconds",
    };
    for (const [text, written] of Object.entries({ ...typed, ...more })) {
      expect(durationText(milliseconds(text) ?? Number.NaN)).toBe(written);
    }
    for (const wrong of ["", "h", "1 parsec", "1 h x", "0.0001 ms", "1-h"]) {
      expect(milliseconds(wrong)).toBeNull();
    }
  });

  test("nodes are listed from sources to sinks, stores after what uses them", () => {
    const document = design(
      [
        node("out", "sink.topic"),
        node("s", "store.key_value"),
        node("n", "count"),
        node("in", "source.stream"),
      ],
      ["in", "n"],
      ["n", "out"],
      ["s", "n.store"],
    );
    expect(inOrder(document).map((each) => each.id)).toEqual(["in", "n", "s", "out"]);
  });
});

describe("ports", () => {
  test("the branches of a split are its output ports, the default port last", () => {
    const split = node("s", "split", {
      branches: [
        { port: "big", predicate: "value > 1" },
        { port: "small", predicate: "value < 0" },
      ],
      default_port: "rest",
    });
    const names = portsOf(CATALOG, split)
      .filter((port) => port.side === "output")
      .map((port) => port.name);
    expect(names).toEqual(["big", "small", "rest"]);
  });

  test("renaming a branch keeps its edges, removing one takes them away", () => {
    const document = design(
      [
        node("s", "split", {
          branches: [
            { port: "big", predicate: "a" },
            { port: "small", predicate: "b" },
          ],
        }),
        node("one", "sink.topic"),
        node("two", "sink.topic"),
      ],
      ["s.big", "one"],
      ["s.small", "two"],
    );
    const renamed = setParam(document, CATALOG, "s", "branches", [
      { port: "huge", predicate: "a" },
      { port: "small", predicate: "b" },
    ]);
    expect(renamed.edges.map(edgeId)).toEqual(["s.huge>one.in", "s.small>two.in"]);
    const fewer = setParam(document, CATALOG, "s", "branches", [{ port: "small", predicate: "b" }]);
    expect(fewer.edges.map(edgeId)).toEqual(["s.small>two.in"]);
  });

  test("ports sit on the grid, whatever their number", () => {
    for (const count of [1, 2, 3, 4, 5]) {
      const size = sizeOf(CATALOG, {
        id: "s",
        kind: "split",
        params: {
          branches: Array.from({ length: count }, (_, n) => ({ port: `b${n}`, predicate: "a" })),
        },
      });
      for (let index = 0; index < count; index += 1) {
        expect(portTop(index, count, size.height) % 8).toBe(4);
      }
    }
  });

  test("every kind of the catalog has ports, an icon that exists and a place to start from", () => {
    for (const kind of CATALOG.kinds) {
      const params = startingParams(kind);
      const ports = portsOf(CATALOG, { id: "a", kind: kind.kind, params });
      if (!kind.kind.startsWith("store.") && kind.inputs.every((input) => input.dynamic === null)) {
        expect(ports.length, kind.kind).toBeGreaterThan(0);
      }
      expect(CATALOG.families.some((family) => family.id === kind.family)).toBe(true);
    }
    expect(iconNames(CATALOG).filter((name) => !iconExists(name))).toEqual([]);
  });
});

describe("stores as code sees them", () => {
  test("a processor writes its own stores and only reads those of tables", () => {
    const document = design(
      [
        node("p", "process"),
        node("own", "store.window", { name: "mine" }),
        node("n", "count", { window: { type: "session", gap: 1 } }),
        node("t", "source.table"),
        node("rows", "store.versioned", { name: "history" }),
        node("u", "source.table"),
        node("g", "source.global_store"),
        node("rates", "store.key_value", { name: "rates" }),
      ],
      ["own", "p.store"],
      ["n", "p.store"],
      ["rows", "t.store"],
      ["rows", "p.store"],
      ["u", "p.store"],
      ["rates", "g.store"],
      ["rates", "p.store"],
    );
    expect(storeClasses(document, CATALOG, "p")).toEqual({
      mine: "WindowStore",
      n: "ReadOnlySessionStore",
      history: "ReadOnlyVersionedStore",
      u: "ReadOnlyKeyValueStore",
      rates: "ReadOnlyKeyValueStore",
    });
    expect(storeClasses(document, CATALOG, "g")).toEqual({ rates: "KeyValueStore" });
  });
});

describe("wires", () => {
  const base = [
    node("in", "source.stream"),
    node("table", "source.table"),
    node("join", "join.stream_table"),
    node("f", "filter"),
    node("out", "sink.topic"),
    node("s", "store.key_value"),
    node("n", "count"),
  ];
  const why = (document: TopologyDocument, from: string, to: string) => {
    const [a = "", ap = "out"] = from.split(".");
    const [b = "", bp = "in"] = to.split(".");
    return (
      refusal(document, CATALOG, {}, { node: a, port: ap }, { node: b, port: bp })?.code ?? null
    );
  };

  test("a stream does not fit where a table is needed, and the other way round", () => {
    const document = design(base);
    expect(why(document, "in", "join.right")).toBe("role");
    expect(why(document, "table", "join.left")).toBe("role");
    expect(why(document, "table", "join.right")).toBeNull();
    expect(why(document, "in", "join.left")).toBeNull();
  });

  test("a global table fits its own join, a windowed one where tables do", () => {
    const hours = node("hours", "count", { window: { type: "tumbling", size: "1 hour" } });
    const lookup = node("lookup", "join.stream_global_table");
    const document = design([...base, node("g", "source.global_table"), lookup, hours]);
    expect(why(document, "g", "lookup.right")).toBeNull();
    for (const port of ["join.right", "f", "out"]) expect(why(document, "g", port)).toBe("role");
    expect(roleOfOutput(document, CATALOG, hours, "out")).toBe("windowed_table");
    expect(why(document, "hours", "join.right")).toBeNull();
    for (const port of ["join.left", "lookup.right"]) {
      expect(why(document, "hours", port)).toBe("role");
    }
  });

  test("a filter gives what it is given", () => {
    const document = design(base, ["table", "f"]);
    const filter = findNode(document, "f");
    expect(filter && roleOfOutput(document, CATALOG, filter, "out")).toBe("table");
    expect(why(document, "f", "join.right")).toBeNull();
    expect(why(document, "f", "join.left")).toBe("role");
  });

  test("what the compiler says of a port comes first", () => {
    const document = design(base);
    const known = { in: { out: { role: "table" } } };
    expect(
      refusal(
        document,
        CATALOG,
        known,
        { node: "in", port: "out" },
        { node: "join", port: "right" },
      ),
    ).toBeNull();
  });

  test("a port that is filled takes no second wire, a sink does", () => {
    const document = design(base, ["in", "f"], ["in", "out"]);
    expect(why(document, "n", "f")).toBe("taken");
    expect(why(document, "f", "out")).toBeNull();
    expect(why(document, "in", "out")).toBe("exists");
  });

  test("no circles, no node to itself", () => {
    const document = design(base, ["f", "n"]);
    expect(why(document, "n", "f")).toBe("cycle");
    expect(why(document, "f", "f")).toBe("itself");
  });

  test("stores connect below, and nothing else does", () => {
    const document = design(base);
    expect(why(document, "s", "n.store")).toBeNull();
    expect(why(document, "s", "f")).toBe("store_only_below");
    expect(why(document, "in", "n.store")).toBe("not_a_store");
  });

  test("a processor reads the stores of tables, not those of streams or of what follows it", () => {
    const nodes = [...base, node("p", "process"), node("g", "source.global_table")];
    const document = design(nodes, ["in", "n"], ["p", "out"]);
    expect(why(document, "n", "p.store")).toBeNull();
    expect(why(document, "table", "p.store")).toBeNull();
    expect(why(document, "g", "p.store")).toBeNull();
    expect(why(document, "in", "p.store")).toBe("not_a_table");
    expect(why(design(nodes, ["p", "n"]), "n", "p.store")).toBe("cycle");
  });

  test("a wire let go over a node takes its first port that fits", () => {
    const document = design(base);
    expect(firstFit(document, CATALOG, {}, { node: "table", port: "out" }, "join")).toEqual({
      node: "join",
      port: "right",
    });
    expect(firstFit(document, CATALOG, {}, { node: "out", port: "out" }, "in")).toBeNull();
  });

  test("the order of children can be changed and survives an insertion", () => {
    const document = design(base, ["in", "f"], ["in", "out"]);
    const swapped = moveChild(document, "in.out>out.in", -1);
    expect(swapped.edges.map(edgeId)).toEqual(["in.out>out.in", "in.out>f.in"]);
    const edge = document.edges[0];
    const inserted = edge === undefined ? document : insertOnEdge(document, CATALOG, {}, edge, "n");
    expect(inserted.edges.map(edgeId)[0]).toBe("in.out>n.in");
  });

  test("deleting a join passes its left side on, not its right", () => {
    const document = design(base, ["in", "join.left"], ["table", "join.right"], ["join", "out"]);
    const left = removeAndReconnect(document, CATALOG, {}, new Set(["join"]));
    expect(left.edges.map(edgeId)).toEqual(["in.out>out.in"]);
  });

  test("either end of a wire moves, and the wire keeps its place among the others", () => {
    const document = design(base, ["in", "f"], ["in", "out"]);
    const first = document.edges[0] as DocumentEdge;
    const from = { node: "in", port: "out" };
    const target = reconnect(document, first, from, { node: "join", port: "left" });
    expect(target.edges.map(edgeId)).toEqual(["in.out>join.left", "in.out>out.in"]);
    const source = reconnect(
      document,
      first,
      { node: "table", port: "out" },
      { node: "f", port: "in" },
    );
    expect(source.edges.map(edgeId)).toEqual(["table.out>f.in", "in.out>out.in"]);
  });

  test("the same wire twice is one wire", () => {
    const document = design(base, ["in", "f"]);
    expect(connect(document, { node: "in", port: "out" }, { node: "f", port: "in" })).toBe(
      document,
    );
  });
});

describe("history", () => {
  const shot = (name: string) => ({ document: emptyDocument(name), selected: [], label: name });

  test("back and forth, and a new change forgets what was undone", () => {
    const one = remember(EMPTY_HISTORY, shot("a"), null);
    const back = stepBack(one, shot("b"));
    expect(back?.shown.document.name).toBe("a");
    const forth = back && stepForward(back.history, shot("a"));
    expect(forth?.shown.document.name).toBe("b");
    expect(back && remember(back.history, shot("a"), null).future).toEqual([]);
    expect(stepBack(EMPTY_HISTORY, shot("a"))).toBeNull();
  });

  test("written history drops its oldest entries to fit, and broken text is no history", () => {
    let history = EMPTY_HISTORY;
    for (let number = 0; number < 50; number += 1)
      history = remember(history, shot(`n${number}`), null);
    const text = writeHistory(history, 2000);
    expect(text.length).toBeLessThanOrEqual(2000);
    const read = readHistory(text);
    expect(read.past.at(-1)?.document.name).toBe("n49");
    expect(readHistory("{")).toEqual(EMPTY_HISTORY);
    expect(readHistory(null)).toEqual(EMPTY_HISTORY);
  });
});

describe("search", () => {
  const first = (query: string) =>
    searchKinds(CATALOG, query)
      .slice(0, 4)
      .map((kind) => kind.kind);

  test("by name, synonym and intent", () => {
    expect(first("filter")[0]).toBe("filter");
    expect(first("where")).toContain("filter");
    expect(first("enrich")).toContain("join.stream_table");
    expect(first("count per hour")).toContain("count");
    expect(first("每小时计数")).toContain("count");
    expect(first("zzzz")).toEqual([]);
  });

  test("nodes are found by label and by any parameter", () => {
    const document = design([
      { ...node("a", "filter", { predicate: "value.amount > 10" }), label: "Big ones" },
      node("b", "sink.topic", { topic: "orders" }),
    ]);
    expect(searchNodes(document, "big").map((hit) => hit.node.id)).toEqual(["a"]);
    expect(searchNodes(document, "AMOUNT")[0]).toMatchObject({ where: "predicate" });
    expect(searchNodes(document, "orders").map((hit) => hit.node.id)).toEqual(["b"]);
    expect(searchNodes(document, " ")).toEqual([]);
  });
});

describe("types", () => {
  test("structs, arrays and maps are read as Spark writes them", () => {
    const type = readType(
      "STRUCT<item: STRING, lines: ARRAY<STRUCT<n: INT>>, tags: MAP<STRING, INT> NOT NULL>",
    );
    expect(type.fields.map((field) => field.name)).toEqual(["item", "lines", "tags"]);
    expect(typeAt(type, ["ITEM"])?.name).toBe("STRING");
    expect(typeAt(type, ["item", "x"])).toBeNull();
    expect(writeType(type)).toBe(
      "STRUCT<item: STRING, lines: ARRAY<STRUCT<n: INT>>, tags: MAP<STRING, INT>>",
    );
  });

  test("a DDL schema is a struct, a plain type is itself", () => {
    expect(readType("a INT, b DECIMAL(10, 2)").fields.map((field) => field.type.name)).toEqual([
      "INT",
      "DECIMAL(10,2)",
    ]);
    expect(readType("bigint").name).toBe("BIGINT");
    expect(readType("STRUCT<broken").fields).toHaveLength(1);
  });

  test("shown short", () => {
    expect(shortType(readType("a INT, b INT, c INT"))).toBe("{a, b, +1}");
    expect(shortType(readType("a INT, b INT"), 0)).toBe("{2}");
    expect(
      shortType(readType("STRUCT<key: STRING, window: STRUCT<start: TIMESTAMP, end: TIMESTAMP>>")),
    ).toBe("STRING @ window");
  });
});

describe("layout", () => {
  test("layers from left to right, stores below what uses them, nothing overlaps", async () => {
    const { default: Elk } = await import("elkjs/lib/elk.bundled.js");
    const document = design(
      [
        node("in", "source.stream"),
        node("t", "source.table"),
        node("j", "join.stream_table"),
        node("n", "count"),
        node("s", "store.key_value"),
        node("out", "sink.topic"),
      ],
      ["in", "j.left"],
      ["t", "j.right"],
      ["j", "n"],
      ["n", "out"],
      ["s", "n.store"],
    );
    const all = new Set(document.nodes.map((each) => each.id));
    const places = await layout(new Elk(), document, CATALOG, all);
    const at = (id: string) => places.get(id) ?? { x: Number.NaN, y: Number.NaN };
    expect(at("in").x).toBeLessThan(at("j").x);
    expect(at("s").y).toBeGreaterThan(at("n").y + 56);
    expect(Math.abs(at("s").x + 56 - (at("n").x + 108))).toBeLessThan(1);
    for (const each of document.nodes) {
      expect(at(each.id).x % 2, each.id).toBe(0);
    }
    expect(at("in").y).toBeLessThan(at("t").y);
  });

  test("align and distribute", () => {
    const document = design([
      node("a", "filter", {}, 0, 0),
      node("b", "filter", {}, 300, 40),
      node("c", "filter", {}, 1000, 80),
    ]);
    const all = new Set(["a", "b", "c"]);
    expect([...align(document, CATALOG, all, "top").values()].map((place) => place.y)).toEqual([
      0, 0, 0,
    ]);
    const spread = distribute(document, CATALOG, all, "x");
    expect(spread.get("b")?.x).toBe(500);
    expect(boundsOf([])).toBeNull();
    expect(snap({ x: 13, y: -3 })).toEqual({ x: 16, y: -0 });
  });
});

test("a node behind a shuffle is drawn in the sub-topology where it does its work", () => {
  const document = design(
    [
      node("in", "source.stream"),
      node("n", "count"),
      node("s", "store.key_value"),
      node("out", "sink.topic"),
    ],
    ["in", "n"],
    ["n", "out"],
    ["s", "n.store"],
  );
  const areas = areasOf(document, {
    subtopologies: [
      { id: 0, nodes: ["in", "n"] },
      { id: 1, nodes: ["n", "out"] },
    ],
    edges: [{ index: 0, shuffle: true }],
  });
  expect([...(areas.get(0) ?? [])]).toEqual(["in"]);
  expect([...(areas.get(1) ?? [])].toSorted()).toEqual(["n", "out", "s"]);
});

test("partitions of a topic are set and taken away", () => {
  const set = setPartitions(emptyDocument("a"), "orders", 3);
  expect(set.topics).toEqual({ orders: { partitions: 3 } });
  expect(setPartitions(set, "orders", undefined).topics).toEqual({});
});

test("no color is named outside the tokens", () => {
  for (const file of [
    "canvas/canvas.css",
    "canvas/nodes.css",
    "canvas/wires.css",
    "workbench/designer.css",
    "inspector/fields.css",
    "inspector/inspector.css",
    "palette/palette.css",
    "ui/ui.css",
  ]) {
    const text = readFileSync(join(import.meta.dirname, "..", file), "utf8");
    expect(text.match(/#[0-9a-f]{3,8}\b|rgba?\(|hsl/gi), file).toBeNull();
  }
});

test("the fields of a reader are asked for once there is one", () => {
  const all = CATALOG.kinds.find((kind) => kind.kind === "source.stream")?.parameters ?? [];
  const asked = (params: Record<string, string>) =>
    all.filter((each) => isAsked(each, params, all)).map((each) => each.name);
  const fields = ["reader_options", "reader_schema", "reader_columns"];
  expect(asked({})).toContain("reader");
  expect(asked({})).not.toEqual(expect.arrayContaining([expect.stringMatching(/^reader_/)]));
  expect(asked({ reader: "parquet" })).toEqual(expect.arrayContaining(fields));
});
