/** Whether a wire may connect two ports, and why not. */

import { type Catalog, kindOf, portsOf, type Role } from "./catalog";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  findNode,
  isStoreKind,
  makeEdge,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";
import { type KnownRoles, roleOfOutput } from "./roles";

export interface PortAddress {
  readonly node: string;
  readonly port: string;
}

export type Refusal =
  | { readonly code: "itself" }
  | { readonly code: "not_an_input" }
  | { readonly code: "exists" }
  | { readonly code: "taken"; readonly port: string }
  | { readonly code: "cycle" }
  | { readonly code: "role"; readonly found: Role; readonly needs: readonly Role[] }
  | { readonly code: "not_a_store" }
  | { readonly code: "not_a_table" }
  | { readonly code: "store_only_below" }
  | { readonly code: "store_kind"; readonly needs: readonly string[] };

/** Whether there is a path along the edges from `from` to `to`. */
function reaches(document: TopologyDocument, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node === to) return true;
    if (seen.has(node)) continue;
    seen.add(node);
    for (const edge of document.edges) if (edge.source === node) open.push(edge.target);
  }
  return false;
}

/** Whether a port accepts a role. A windowed table is also a table. */
export function accepts(needs: readonly Role[], found: Role): boolean {
  return needs.includes(found) || (found === "windowed_table" && needs.includes("table"));
}

/**
 * The reason why a wire may not be drawn; null if it may. `ignored` is an edge that is being moved and does not count.
 * An output whose role is not known yet fits everywhere: the compiler checks it later.
 */
export function refusal(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  from: PortAddress,
  to: PortAddress,
  ignored?: DocumentEdge,
): Refusal | null {
  if (from.node === to.node) return { code: "itself" };
  const source = findNode(document, from.node);
  const target = findNode(document, to.node);
  if (source === undefined || target === undefined) return { code: "not_an_input" };
  const port = portsOf(catalog, target).find(
    (candidate) => candidate.side !== "output" && candidate.name === to.port,
  );
  if (port === undefined) return { code: "not_an_input" };
  const edges =
    ignored === undefined
      ? document.edges
      : document.edges.filter((edge) => edgeId(edge) !== edgeId(ignored));
  const preferred = edgeId(makeEdge(from.node, from.port, to.node, to.port));
  if (edges.some((edge) => edgeId(edge) === preferred)) return { code: "exists" };

  if (port.side === "store") {
    if (isStoreKind(source.kind)) {
      return port.roles.includes(source.kind) ? null : { code: "store_kind", needs: port.roles };
    }
    if (kindOf(catalog, target.kind)?.reads_stores !== true) return { code: "not_a_store" };
    if (!keepsRows(document, catalog, source, from.port, known)) return { code: "not_a_table" };
    return reaches({ ...document, edges }, to.node, from.node) ? { code: "cycle" } : null;
  }
  if (isStoreKind(source.kind)) return { code: "store_only_below" };

  const role = roleOfOutput(document, catalog, source, from.port, known);
  if (role !== null && role !== "same" && port.roles.length > 0 && !accepts(port.roles, role)) {
    return { code: "role", found: role, needs: port.roles };
  }
  const taken = edges.some((edge) => edge.target === to.node && targetPort(edge) === to.port);
  if (taken && !port.many) return { code: "taken", port: to.port };
  if (reaches({ ...document, edges }, to.node, from.node)) return { code: "cycle" };
  return null;
}

/** Whether a node is a table or a global table, so that a processor may read its store. */
function keepsRows(
  document: TopologyDocument,
  catalog: Catalog,
  node: DocumentNode,
  port: string,
  known: KnownRoles,
): boolean {
  const kind = kindOf(catalog, node.kind);
  if (kind === undefined || kind.takes_store === null || kind.reads_stores) return false;
  const role = roleOfOutput(document, catalog, node, port, known);
  return role === null || role.endsWith("table");
}

/** The first port of `node` at which a wire from `from` may end; null if there is none. */
export function firstFit(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  from: PortAddress,
  node: string,
): PortAddress | null {
  const target = findNode(document, node);
  if (target === undefined) return null;
  for (const port of portsOf(catalog, target)) {
    if (port.side === "output") continue;
    const to = { node, port: port.name };
    if (refusal(document, catalog, known, from, to) === null) return to;
  }
  return null;
}

/** The first port of `node` from which a wire may go to `to`; null if none. */
export function firstSource(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  node: string,
  to: PortAddress,
): PortAddress | null {
  const source = findNode(document, node);
  if (source === undefined) return null;
  for (const port of portsOf(catalog, source)) {
    if (port.side !== "output") continue;
    const from = { node, port: port.name };
    if (refusal(document, catalog, known, from, to) === null) return from;
  }
  return null;
}

/** Whether a kind could be inserted into an edge: it has an output, and an input that accepts the edge's records. */
export function fitsOnEdge(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  kind: string,
  edge: DocumentEdge,
): boolean {
  const entry = kindOf(catalog, kind);
  if (entry === undefined || isStoreKind(kind) || targetPort(edge) === "store") return false;
  const source = findNode(document, edge.source);
  if (source === undefined || entry.outputs.length === 0) return false;
  const role = roleOfOutput(document, catalog, source, sourcePort(edge), known);
  return entry.inputs.some(
    (input) => role === null || input.roles.length === 0 || accepts(input.roles, role),
  );
}
