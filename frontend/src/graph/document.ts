/**
 * The topology document in the page: plain JSON that is never mutated.
 *
 * A document may be unfinished, or wrong in any way that can be drawn or typed. Text from outside becomes a document
 * only through `readDocument`.
 */

import type { components } from "../schema";

type Schemas = components["schemas"];

const FORMAT = "millrace.topology/1";

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A value that should be an object; an empty one for anything else. */
export function asObject(value: Json | undefined): Record<string, Json> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** A type of the API, read-only, and with `Json` in place of `unknown`. */
export type Held<T> = unknown extends T
  ? Json
  : T extends readonly (infer Item)[]
    ? readonly Held<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Held<T[Key]> }
      : T;

export type Parameters = Readonly<Record<string, Json>>;

export type Position = Held<Schemas["Position"]>;

/** A node, whose parameters may still be missing. */
export type DocumentNode = Omit<Held<Schemas["Node"]>, "params"> & {
  readonly params?: Parameters;
};

/** `source_port` is `out` and `target_port` is `in` where they are left out. */
export type DocumentEdge = Held<Schemas["Edge"]>;

export type TopologyDocument = Omit<Held<Schemas["Document"]>, "nodes"> & {
  readonly nodes: readonly DocumentNode[];
};

export function emptyDocument(name: string): TopologyDocument {
  return { format: FORMAT, name, nodes: [], edges: [] };
}

export function sourcePort(edge: DocumentEdge): string {
  return edge.source_port ?? "out";
}

export function targetPort(edge: DocumentEdge): string {
  return edge.target_port ?? "in";
}

/** Identifies an edge by the ports it joins. Two edges with the same id are the same edge. */
export function edgeId(edge: DocumentEdge): string {
  return `${edge.source}.${sourcePort(edge)}>${edge.target}.${targetPort(edge)}`;
}

/** Makes an edge, omitting ports with the default names. */
export function makeEdge(
  source: string,
  source_port: string,
  target: string,
  target_port: string,
): DocumentEdge {
  return {
    source,
    target,
    ...(source_port === "out" ? {} : { source_port }),
    ...(target_port === "in" ? {} : { target_port }),
  };
}

export function findNode(document: TopologyDocument, id: string): DocumentNode | undefined {
  return document.nodes.find((node) => node.id === id);
}

type Drawn = NonNullable<TopologyDocument["drawing"]>;

/** A document with these parts of its drawing in place of those that it has. What is empty is left out. */
export function withDrawing(
  document: TopologyDocument,
  changed: Omit<Drawn, "program">,
): TopologyDocument {
  const { drawing, ...rest } = document;
  const parts = [
    ...Object.entries(drawing ?? {}).filter(([name]) => !(name in changed)),
    ...Object.entries(changed).filter(([, rows]) => rows.length > 0),
  ];
  return parts.length === 0 ? rest : { ...rest, drawing: Object.fromEntries(parts) };
}

export function positionOf(node: DocumentNode): Position {
  return node.position ?? { x: 0, y: 0 };
}

export function labelOf(node: DocumentNode): string {
  return node.label === undefined || node.label === "" ? node.id : node.label;
}

export function paramsOf(node: DocumentNode): Parameters {
  return node.params ?? {};
}

export function isStoreKind(kind: string): boolean {
  return kind.startsWith("store.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readNode(value: unknown): DocumentNode | null {
  if (!isObject(value) || typeof value.id !== "string" || typeof value.kind !== "string")
    return null;
  return value as unknown as DocumentNode;
}

function readEdge(value: unknown): DocumentEdge | null {
  if (!isObject(value) || typeof value.source !== "string" || typeof value.target !== "string") {
    return null;
  }
  return value as unknown as DocumentEdge;
}

/**
 * Reads a document from JSON of unknown origin; null if it is not a document. Omits nodes without id and kind, edges
 * without ends and edges to missing nodes, since they cannot be drawn.
 */
export function readDocument(value: unknown): TopologyDocument | null {
  if (!isObject(value) || !Array.isArray(value.nodes)) return null;
  const nodes = value.nodes.map(readNode).filter((node) => node !== null);
  const ids = new Set(nodes.map((node) => node.id));
  const edges = (Array.isArray(value.edges) ? value.edges : [])
    .map(readEdge)
    .filter((edge) => edge !== null)
    .filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  return {
    ...(value as unknown as TopologyDocument),
    format: typeof value.format === "string" ? value.format : FORMAT,
    name: typeof value.name === "string" ? value.name : "",
    nodes,
    edges,
  };
}
