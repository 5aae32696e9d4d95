/** The roles of output ports, as far as they can be inferred before the compiler has answered. */

import { type Catalog, kindOf, portsOf, type Role } from "./catalog";
import {
  type DocumentNode,
  findNode,
  isStoreKind,
  paramsOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";

/** Roles from the compiler, by node and output port. */
export type KnownRoles = Readonly<
  Record<string, Readonly<Record<string, { readonly role: string }>>>
>;

function inferred(
  document: TopologyDocument,
  catalog: Catalog,
  node: DocumentNode,
  port: string,
  known: KnownRoles,
  visited: ReadonlySet<string>,
): Role | null {
  if (isStoreKind(node.kind)) return "store";
  const kind = kindOf(catalog, node.kind);
  if (kind === undefined) return null;
  const output = portsOf(catalog, node).find(
    (candidate) => candidate.side === "output" && candidate.name === port,
  );
  const role = output?.roles[0];
  if (role === undefined) return null;
  if (role === "table" && paramsOf(node).window != null) return "windowed_table";
  if (role !== "same") return role;
  const feeding = document.edges.find(
    (edge) => edge.target === node.id && targetPort(edge) !== "store",
  );
  if (feeding === undefined || visited.has(feeding.source)) return null;
  const source = findNode(document, feeding.source);
  if (source === undefined) return null;
  return (
    known[source.id]?.[sourcePort(feeding)]?.role ??
    inferred(document, catalog, source, sourcePort(feeding), known, new Set([...visited, node.id]))
  );
}

/** The role of an output port; null if it is not known yet. The compiler's result takes precedence. */
export function roleOfOutput(
  document: TopologyDocument,
  catalog: Catalog,
  node: DocumentNode,
  port: string,
  known: KnownRoles = {},
): Role | null {
  return known[node.id]?.[port]?.role ?? inferred(document, catalog, node, port, known, new Set());
}
