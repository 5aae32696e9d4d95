/** Changes that remove a problem, where its message knows the answer. */

import type { Diagnostic } from "../api/types";
import { type Catalog, kindOf, portsOf } from "../graph/catalog";
import {
  addNode,
  changeKind,
  connect,
  insertOnEdge,
  makeRoom,
  removeEdges,
  setParam,
  setSetting,
} from "../graph/changes";
import {
  edgeId,
  findNode,
  isStoreKind,
  type Json,
  labelOf,
  paramsOf,
  positionOf,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import { milliseconds } from "../graph/durations";
import { NODE_WIDTH, placeBeside } from "../graph/geometry";
import type { KnownRoles } from "../graph/roles";
import { type Translated, t } from "../ui/i18n";
import { offsetOf } from "./places";

/** What a fix is made from. */
export interface FixContext {
  readonly catalog: Catalog;
  readonly known: KnownRoles;
}

export interface Fix {
  readonly title: Translated;
  /** Gives the document itself if the problem is no longer there. */
  apply(document: TopologyDocument): TopologyDocument;
}

type Maker = (
  diagnostic: Diagnostic,
  document: TopologyDocument,
  context: FixContext,
) => Fix | null;

const FIXES: Readonly<Record<string, Maker>> = {
  expression_function: nearestName,
  expression_column: nearestName,
  expression_field: nearestName,
  expression_text_as_number: (diagnostic) => {
    const { found, type } = diagnostic.facts ?? {};
    if (found === undefined || type === undefined) return null;
    return textFix(diagnostic, found, `try_cast(${found} AS ${type})`);
  },
  expression_type: wholeCast,
  duration_unit: (diagnostic, _document, { catalog }) =>
    durationFix(diagnostic, catalog, diagnostic.facts?.meant),
  retention: (diagnostic, _document, { catalog }) =>
    durationFix(diagnostic, catalog, diagnostic.facts?.needed),
  role: convert,
  input_twice: mergeFirst,
  takes_no_store: dropStore,
  edge_no_store: dropStore,
  store_kind: changeStore,
  parameter_unknown: dropParameter,
  only_with: dropParameter,
  sink_format: matchingFormat,
  sink_key_format: matchingFormat,
  no_results: addSink,
  dead_letter_topic: (_diagnostic, { name }) => {
    const topic = `${name.replace(/[^A-Za-z0-9._-]+/g, "-") || "topology"}-dead-letters`;
    return {
      title: t("Use the topic {topic}", { topic }),
      apply: (document) => setSetting(document, "dead_letter_topic", topic),
    };
  },
  code_store: addStore,
};

/** The fix of a problem; null if a person has to decide, or if it would change nothing. */
export function fixOf(
  diagnostic: Diagnostic,
  document: TopologyDocument,
  context: FixContext,
): Fix | null {
  const found = FIXES[diagnostic.code]?.(diagnostic, document, context) ?? null;
  return found === null || found.apply(document) === document ? null : found;
}

/** The fixes of several problems, from the end of each text to its start, so that places stay right. */
export function fixesOf(
  diagnostics: readonly Diagnostic[],
  document: TopologyDocument,
  context: FixContext,
): Fix[] {
  return [...diagnostics]
    .sort((a, b) => (b.position?.start ?? 0) - (a.position?.start ?? 0))
    .map((diagnostic) => fixOf(diagnostic, document, context))
    .filter((fix) => fix !== null);
}

// -- texts -----------------------------------------------------------------------------------------

const STEP = /\[(\d+)\]|([^.[\]]+)/g;

function steps(path: string): (string | number)[] {
  return [...path.matchAll(STEP)].map(([, index, name]) =>
    index === undefined ? (name ?? "") : Number(index),
  );
}

function changed(value: Json | undefined, way: readonly (string | number)[], how: Change): Json {
  const [step, ...rest] = way;
  if (step === undefined) return how(value);
  if (Array.isArray(value) && typeof step === "number") {
    return value.map((each, index) => (index === step ? changed(each, rest, how) : each));
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { ...value, [step]: changed(value[String(step)], rest, how) };
  }
  return value ?? null;
}

type Change = (value: Json | undefined) => Json;

/** The document with another value at the place of a problem. */
function setAt(
  document: TopologyDocument,
  catalog: Catalog | null,
  diagnostic: Diagnostic,
  how: Change,
): TopologyDocument {
  const path = diagnostic.path ?? diagnostic.parameter;
  const node = diagnostic.node === null ? undefined : findNode(document, diagnostic.node);
  if (path === null || node === undefined) return document;
  const [name, ...rest] = steps(path);
  if (typeof name !== "string") return document;
  const before = paramsOf(node)[name];
  const after = changed(before, rest, how);
  if (JSON.stringify(before) === JSON.stringify(after)) return document;
  if (catalog !== null) return setParam(document, catalog, node.id, name, after);
  const nodes = document.nodes.map((each) =>
    each === node ? { ...each, params: { ...paramsOf(each), [name]: after } } : each,
  );
  return { ...document, nodes };
}

/** Replaces the marked part of an expression, if it still ends with what was found there. */
function textFix(diagnostic: Diagnostic, found: string, text: string): Fix | null {
  const { node, position } = diagnostic;
  if (node === null || position === null) return null;
  return {
    title: t("Write “{text}”", { text }),
    apply: (document) =>
      setAt(document, null, diagnostic, (value) => {
        if (typeof value !== "string") return value ?? null;
        const start = offsetOf(value, position.start);
        const stop = offsetOf(value, position.stop);
        const marked = value.slice(start, stop);
        if (!marked.toLowerCase().endsWith(found.toLowerCase())) return value;
        return value.slice(0, stop - found.length) + text + value.slice(stop);
      }),
  };
}

/** Writes another duration; null for a text that is none. */
function durationFix(
  diagnostic: Diagnostic,
  catalog: Catalog,
  text: string | undefined,
): Fix | null {
  if (text === undefined || milliseconds(text) === null) return null;
  return {
    title: t("Write “{text}”", { text }),
    // The value of a topology's parameter is changed where it is declared.
    apply: (document) =>
      setAt(document, catalog, diagnostic, (value) =>
        typeof value === "string" && value.includes("${") ? value : text,
      ),
  };
}

function nearestName(diagnostic: Diagnostic): Fix | null {
  const { found, nearest } = diagnostic.facts ?? {};
  return found === undefined || nearest === undefined ? null : textFix(diagnostic, found, nearest);
}

/** Types that are written in capitals; anything else in a message is prose. */
const TYPE = /^[A-Z]+(\([\d, ]+\))?$/;

function wholeCast(diagnostic: Diagnostic, _document: TopologyDocument): Fix | null {
  const needed = diagnostic.facts?.needed ?? "";
  if (!TYPE.test(needed) || needed === "BOOLEAN") return null;
  return {
    title: t("Convert it to {type}", { type: needed }),
    apply: (document) =>
      setAt(document, null, diagnostic, (value) =>
        typeof value === "string" ? `CAST(${value.trim()} AS ${needed})` : (value ?? null),
      ),
  };
}

function dropParameter(
  diagnostic: Diagnostic,
  _document: TopologyDocument,
  { catalog }: FixContext,
): Fix | null {
  const { node, parameter } = diagnostic;
  if (node === null || parameter === null || /[.[]/.test(diagnostic.path ?? parameter)) return null;
  return {
    title: t("Remove it"),
    apply: (document) => setParam(document, catalog, node, parameter, undefined),
  };
}

/** Without a format, a sink writes the one that matches the type. */
function matchingFormat(...given: Parameters<Maker>): Fix | null {
  const fix = dropParameter(...given);
  return fix === null ? null : { ...fix, title: t("Use the matching format") };
}

// -- the graph -------------------------------------------------------------------------------------

/** The edges into the input that a problem names. */
function edgesInto(document: TopologyDocument, diagnostic: Diagnostic) {
  const { port } = diagnostic.facts ?? {};
  return document.edges.filter(
    (edge) => edge.target === diagnostic.node && targetPort(edge) === port,
  );
}

/** Puts *To table* or *To stream* into the edge. */
function convert(
  diagnostic: Diagnostic,
  document: TopologyDocument,
  { catalog, known }: FixContext,
): Fix | null {
  const target = diagnostic.node === null ? undefined : findNode(document, diagnostic.node);
  const edges = edgesInto(document, diagnostic);
  if (target === undefined || edges.length !== 1) return null;
  const port = portsOf(catalog, target).find((each) => each.name === diagnostic.facts?.port);
  const kind = port?.roles.includes("table") ? "to_table" : "to_stream";
  const entry = catalog.kinds.find((each) => each.kind === kind);
  if (entry === undefined) return null;
  return {
    title: t("Put “{title}” between", { title: entry.title }),
    apply: (now) => {
      const [edge] = edgesInto(now, diagnostic);
      const source = edge === undefined ? undefined : findNode(now, edge.source);
      if (edge === undefined || source === undefined) return now;
      const [from, to] = [positionOf(source), positionOf(target)];
      const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
      const added = addNode(now, catalog, kind, middle);
      const joined = insertOnEdge(added.document, catalog, known, edge, added.id);
      if (joined === added.document) return now;
      return makeRoom(joined, catalog, added.id);
    },
  };
}

/** Leads all edges into an input through one *Merge*. */
function mergeFirst(
  diagnostic: Diagnostic,
  document: TopologyDocument,
  { catalog }: FixContext,
): Fix | null {
  const target = diagnostic.node === null ? undefined : findNode(document, diagnostic.node);
  const entry = catalog.kinds.find((each) => each.kind === "merge");
  const port =
    target && portsOf(catalog, target).find((each) => each.name === diagnostic.facts?.port);
  if (target === undefined || entry === undefined || port?.roles.includes("stream") !== true) {
    return null;
  }
  return {
    title: t("Put “{title}” between", { title: entry.title }),
    apply: (now) => {
      const edges = edgesInto(now, diagnostic);
      if (edges.length < 2) return now;
      const place = positionOf(target);
      const at = { x: place.x - NODE_WIDTH - 48, y: place.y };
      const added = addNode(now, catalog, "merge", at);
      const gone = new Set(edges.map(edgeId));
      const led = {
        ...added.document,
        edges: added.document.edges.map((edge) => {
          if (!gone.has(edgeId(edge))) return edge;
          const { target_port: _old, ...rest } = edge;
          return { ...rest, target: added.id };
        }),
      };
      const joined = connect(
        led,
        { node: added.id, port: "out" },
        { node: target.id, port: port.name },
      );
      return makeRoom(joined, catalog, added.id);
    },
  };
}

/** Removes the edge to a store that the node cannot use. */
function dropStore(diagnostic: Diagnostic, document: TopologyDocument): Fix | null {
  const into = (now: TopologyDocument) =>
    now.edges.filter((edge) => edge.target === diagnostic.node && targetPort(edge) === "store");
  if (into(document).length !== 1) return null;
  return {
    title: t("Remove the edge"),
    apply: (now) => removeEdges(now, new Set(into(now).map(edgeId))),
  };
}

/**
 * Makes the store one of the kind that the node needs. A retention that is too short for the node's window becomes the
 * one that it needs, which is also what an empty one means.
 */
function changeStore(
  diagnostic: Diagnostic,
  document: TopologyDocument,
  { catalog }: FixContext,
): Fix | null {
  const { kind = "", retention, store = "" } = diagnostic.facts ?? {};
  const entry = kindOf(catalog, kind);
  // Another node that uses the store may need its present kind.
  const shared = document.edges.some(
    (edge) => edge.source === store && edge.target !== diagnostic.node,
  );
  if (entry === undefined || shared) return null;
  const needed = milliseconds(retention);
  return {
    title: t("Change the store to “{title}”", { title: entry.title }),
    apply: (now) => {
      const made = changeKind(now, catalog, store, kind);
      const node = findNode(made, store);
      const kept = node === undefined ? null : milliseconds(paramsOf(node).retention);
      if (retention === undefined || needed === null || kept === null || kept >= needed)
        return made;
      return setParam(made, catalog, store, "retention", retention);
    },
  };
}

/** Connects a sink to the last node that leads nowhere. */
function addSink(
  _diagnostic: Diagnostic,
  document: TopologyDocument,
  { catalog }: FixContext,
): Fix | null {
  const entry = catalog.kinds.find((each) => each.kind === "sink.topic");
  const last = (now: TopologyDocument) =>
    now.nodes.findLast(
      (node) =>
        !isStoreKind(node.kind) &&
        portsOf(catalog, node).some((port) => port.side === "output") &&
        !now.edges.some((edge) => edge.source === node.id),
    );
  const after = last(document);
  if (entry === undefined || after === undefined) return null;
  return {
    title: t("Add “{title}” after {node}", { title: entry.title, node: labelOf(after) }),
    apply: (now) => {
      const from = last(now);
      if (from === undefined) return now;
      const place = placeBeside(now, catalog, from, "sink.topic");
      const added = addNode(now, catalog, "sink.topic", place);
      const port = portsOf(catalog, from).find((each) => each.side === "output")?.name ?? "out";
      return connect(added.document, { node: from.id, port }, { node: added.id, port: "in" });
    },
  };
}

/** Connects a store of the name that a processor's code asks for: one that is there, or a new one. */
function addStore(
  diagnostic: Diagnostic,
  document: TopologyDocument,
  { catalog }: FixContext,
): Fix | null {
  const name = diagnostic.facts?.store;
  const node = diagnostic.node === null ? undefined : findNode(document, diagnostic.node);
  if (name === undefined || node === undefined) return null;
  const named = (now: TopologyDocument) =>
    now.nodes.find((each) => isStoreKind(each.kind) && paramsOf(each).name === name);
  const title =
    named(document) === undefined
      ? t("Add the store {name}", { name })
      : t("Connect the store {name}", { name });
  return {
    title,
    apply: (now) => {
      const store = named(now);
      const to = { node: node.id, port: "store" };
      if (store !== undefined) return connect(now, { node: store.id, port: "out" }, to);
      const place = placeBeside(now, catalog, node, "store.key_value");
      const added = addNode(now, catalog, "store.key_value", place);
      const labelled = setParam(added.document, catalog, added.id, "name", name);
      return connect(labelled, { node: added.id, port: "out" }, to);
    },
  };
}
