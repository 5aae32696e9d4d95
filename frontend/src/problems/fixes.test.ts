// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Diagnostic } from "../api/types";
import { CATALOG, editor } from "../commands/kit";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { setParam } from "../graph/changes";
import { edgeId, findNode, paramsOf } from "../graph/document";
import { placeOf } from "../graph/parameters";
import { fixesOf, fixOf } from "./fixes";

function diagnostic(code: string, part: Partial<Diagnostic>): Diagnostic {
  return {
    code,
    severity: "error",
    node: null,
    parameter: null,
    path: null,
    position: null,
    blocks: null,
    message: code,
    hint: "",
    facts: {},
    ...part,
  };
}

/** Applies the fix of a problem to the open document; returns its title. */
function fix(problem: Diagnostic): string | null {
  const state = useDesigner.getState();
  const context = { catalog: CATALOG, known: knownRoles(state) };
  const found = fixOf(problem, state.document, context);
  if (found === null) return null;
  state.change(found.title, found.apply);
  return found.title;
}

function param(node: string, name: string) {
  const found = findNode(useDesigner.getState().document, node);
  return found === undefined ? undefined : paramsOf(found)[name];
}

test("a misspelled field gets the nearest name, in the middle of an expression in a list", () => {
  const drawn = editor();
  const split = drawn.drop("split", { at: { x: 0, y: 0 } });
  const predicate = "value.😀 = 1 AND value.quantty > 2";
  useDesigner.getState().change("set" as never, (document) => ({
    ...document,
    nodes: document.nodes.map((node) => ({
      ...node,
      params: { branches: [{ port: "a", predicate }] },
    })),
  }));
  const start = [...predicate].join("\n").split("\n").length - "quantty > 2".length;
  const title = fix(
    diagnostic("expression_field", {
      node: split,
      parameter: "branches",
      path: "branches[0].predicate",
      position: { start, stop: start + 7 },
      facts: { found: "quantty", nearest: "quantity", known: "quantity" },
    }),
  );
  expect(title).toBe("Write “quantity”");
  expect(param(split, "branches")).toEqual([
    { port: "a", predicate: "value.😀 = 1 AND value.quantity > 2" },
  ]);
});

test("several fixes of one text all reach their places, as one change", () => {
  const drawn = editor();
  const filter = drawn.drop("filter", { at: { x: 0, y: 0 } });
  useDesigner.getState().change("set" as never, (document) => ({
    ...document,
    nodes: document.nodes.map((node) => ({ ...node, params: { predicate: "itm = lowr(itm)" } })),
  }));
  const at = (code: string, start: number, found: string, nearest: string) =>
    diagnostic(code, {
      node: filter,
      parameter: "predicate",
      position: { start, stop: start + found.length },
      facts: { found, nearest },
    });
  const problems = [
    at("expression_column", 0, "itm", "value.item"),
    at("expression_function", 6, "lowr", "lower"),
    at("expression_column", 11, "itm", "value.item"),
  ];
  const state = useDesigner.getState();
  const context = { catalog: CATALOG, known: knownRoles(state) };
  const fixes = fixesOf(problems, state.document, context);
  const after = fixes.reduce((now, each) => each.apply(now), state.document);
  const node = findNode(after, filter);
  expect(node === undefined ? null : paramsOf(node).predicate).toBe(
    "value.item = lower(value.item)",
  );
  // A text that was changed since is left alone.
  expect(fixes.reduce((now, each) => each.apply(now), after)).toBe(after);
});

test("a stream at an input for tables gets To table between, and several streams a Merge", () => {
  const drawn = editor();
  const left = drawn.drop("source.table", { at: { x: 0, y: 0 } });
  const right = drawn.drop("source.stream", { at: { x: 0, y: 300 } });
  const join = drawn.drop("join.table_table", { at: { x: 400, y: 100 } });
  useDesigner.getState().change("wire" as never, (document) => ({
    ...document,
    edges: [
      { source: left, target: join, target_port: "left" },
      { source: right, target: join, target_port: "right" },
    ],
  }));
  const facts = { port: "right", found: "a stream", needed: "a table" };
  expect(fix(diagnostic("role", { node: join, facts }))).toBe("Put “To table” between");
  const kinds = () => drawn.document().nodes.map((node) => node.kind);
  expect(kinds()).toContain("to_table");
  const added = drawn.document().nodes.find((node) => node.kind === "to_table")?.id;
  expect(drawn.edges().sort()).toEqual(
    [`${left}.out>${join}.left`, `${right}.out>${added}.in`, `${added}.out>${join}.right`].sort(),
  );

  const more = editor();
  const one = more.drop("source.stream", { at: { x: 0, y: 0 } });
  const two = more.drop("source.stream", { at: { x: 0, y: 300 } });
  const filter = more.drop("filter", { at: { x: 400, y: 100 } });
  useDesigner.getState().change("wire" as never, (document) => ({
    ...document,
    edges: [
      { source: one, target: filter },
      { source: two, target: filter },
    ],
  }));
  fix(diagnostic("input_twice", { node: filter, facts: { port: "in", sources: "both" } }));
  const merge = more.document().nodes.find((node) => node.kind === "merge")?.id;
  expect(more.document().edges.map(edgeId).sort()).toEqual(
    [`${one}.out>${merge}.in`, `${two}.out>${merge}.in`, `${merge}.out>${filter}.in`].sort(),
  );
});

test("a missing sink, store, handler's topic, unit and type are filled in, and strays removed", () => {
  const drawn = editor();
  const source = drawn.drop("source.stream", { at: { x: 0, y: 0 } });
  expect(fix(diagnostic("no_results", {}))).toContain("after");
  expect(drawn.edges()).toEqual([`${source}.out>sink.in`]);

  const process = drawn.drop("process", { at: { x: 0, y: 300 } });
  const asked = diagnostic("code_store", { node: process, facts: { store: "counts" } });
  expect(fix(asked)).toBe("Add the store counts");
  expect(param("store", "name")).toBe("counts");
  expect(drawn.edges()).toContain(`store.out>${process}.store`);

  expect(fix(diagnostic("takes_no_store", { node: process }))).toBe("Remove the edge");
  expect(drawn.edges()).not.toContain(`store.out>${process}.store`);
  expect(fix(asked)).toBe("Connect the store counts");

  fix(diagnostic("dead_letter_topic", { parameter: "dead_letter_topic" }));
  expect(drawn.document().settings?.dead_letter_topic).toBe("test-dead-letters");

  const map = drawn.drop("map_values", { at: { x: 0, y: 500 } });
  const set = (name: string, value: string | number) =>
    useDesigner.getState().change("set" as never, (document) => ({
      ...document,
      nodes: document.nodes.map((node) =>
        node.id === map ? { ...node, params: { ...paramsOf(node), [name]: value } } : node,
      ),
    }));
  set("value", "value.price");
  const at = { node: map, parameter: "value" };
  fix(diagnostic("expression_type", { ...at, facts: { found: "STRING", needed: "DOUBLE" } }));
  expect(param(map, "value")).toBe("CAST(value.price AS DOUBLE)");
  expect(fix(diagnostic("expression_type", { ...at, facts: { needed: "a number" } }))).toBeNull();
  set("limit", 300);
  fix(
    diagnostic("duration_unit", { node: map, parameter: "limit", facts: { meant: "5 minutes" } }),
  );
  expect(param(map, "limit")).toBe("5 minutes");
  // The value of a topology's parameter is not changed here.
  set("limit", placeOf("limit"));
  expect(
    fix(
      diagnostic("duration_unit", { node: map, parameter: "limit", facts: { meant: "5 minutes" } }),
    ),
  ).toBeNull();
  fix(diagnostic("parameter_unknown", { node: map, parameter: "limit" }));
  expect(param(map, "limit")).toBeUndefined();

  set("key", "string");
  const format = diagnostic("sink_key_format", { node: map, parameter: "key" });
  expect(fix(format)).toBe("Use the matching format");
  expect(param(map, "key")).toBeUndefined();
});

test("a store of the wrong kind becomes the one that fits, with a retention that suffices", () => {
  const drawn = editor();
  const count = drawn.drop("count", { at: { x: 0, y: 0 } });
  const store = drawn.drop("store.key_value", { at: { x: 0, y: 200 } });
  const set = (name: string, value: string) =>
    useDesigner
      .getState()
      .change("set" as never, (now) => setParam(now, CATALOG, store, name, value));
  const edge = { source: store, target: count, target_port: "store" };
  useDesigner.getState().change("wire" as never, (now) => ({ ...now, edges: [edge] }));
  set("key_type", "STRING");
  const asked = (kind: string, retention: string) =>
    diagnostic("store_kind", { node: count, facts: { store, kind, retention } });
  expect(fix(asked("store.window", "65 minutes"))).toBe("Change the store to “Window store”");
  const now = () => findNode(drawn.document(), store);
  expect(now()).toMatchObject({ id: store, kind: "store.window", label: "Window store" });
  expect([param(store, "key_type"), param(store, "retention")]).toEqual(["STRING", undefined]);

  set("window_size", "1 hour");
  set("retention", "65 minutes");
  fix(asked("store.session", "1 day"));
  expect(now()?.kind).toBe("store.session");
  expect([param(store, "window_size"), param(store, "retention")]).toEqual([undefined, "1 day"]);
  fix(asked("store.window", "1 hour"));
  expect(param(store, "retention")).toBe("1 day");
  const short = { node: store, parameter: "retention" };
  fix(diagnostic("retention", { ...short, facts: { needed: "2 days" } }));
  expect(param(store, "retention")).toBe("2 days");
  expect(fix(diagnostic("retention", { ...short, facts: { needed: "without end" } }))).toBeNull();

  // Another node that uses the store may need its kind.
  const process = drawn.drop("process", { at: { x: 300, y: 0 } });
  useDesigner.getState().change("wire" as never, (document) => ({
    ...document,
    edges: [edge, { ...edge, target: process }],
  }));
  expect(fix(asked("store.session", "1 hour"))).toBeNull();
});
