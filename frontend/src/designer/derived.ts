/** Values derived from the designer's state, computed once per change and shared by all views. */

import type { CompileResult, Plan } from "../api/types";
import { type Catalog, kindOf, portsOf, type Role } from "../graph/catalog";
import {
  type DocumentEdge,
  edgeId,
  isStoreKind,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import { isFragment } from "../graph/fragments";
import { type KnownRoles, roleOfOutput } from "../graph/roles";
import { drawnOf } from "./drawn";
import { shareEntries } from "./share";
import type { DesignerState } from "./store";

/** The role of each port of a node, by `side/name`; an input has the role of the output connected to it. */
export type PortRoles = Readonly<Record<string, Role>>;

const NO_ROLES: PortRoles = {};

function work(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
): Record<string, PortRoles> {
  const roles: Record<string, Record<string, Role>> = {};
  for (const node of document.nodes) {
    const mine: Record<string, Role> = {};
    for (const port of portsOf(catalog, node)) {
      if (port.side === "output") {
        const role = isStoreKind(node.kind)
          ? "store"
          : roleOfOutput(document, catalog, node, port.name, known);
        mine[`output/${port.name}`] = role === null || role === "same" ? "stream" : role;
      } else {
        mine[`${port.side}/${port.name}`] =
          port.side === "store" ? "store" : (port.roles[0] ?? "stream");
      }
    }
    roles[node.id] = mine;
  }
  for (const edge of document.edges) {
    const role = roles[edge.source]?.[`output/${sourcePort(edge)}`];
    const target = roles[edge.target];
    const key = `input/${targetPort(edge)}`;
    if (role !== undefined && target?.[key] !== undefined) target[key] = role;
  }
  return roles;
}

let last: {
  document: TopologyDocument;
  catalog: Catalog;
  result: CompileResult | null;
  roles: Readonly<Record<string, PortRoles>>;
} | null = null;

function rolesOf(state: DesignerState): Readonly<Record<string, PortRoles>> {
  const { catalog, result } = state;
  const { document } = drawnOf(state);
  if (catalog === null) return {};
  if (
    last !== null &&
    last.document === document &&
    last.catalog === catalog &&
    last.result === result
  ) {
    return last.roles;
  }
  const roles = shareEntries(last?.roles, work(document, catalog, result?.ports ?? {}));
  last = { document, catalog, result, roles };
  return roles;
}

export function portRoles(state: DesignerState, node: string): PortRoles {
  return rolesOf(state)[node] ?? NO_ROLES;
}

/** The roles of output ports that the compiler inferred, for the rules of connecting. */
export function knownRoles(state: DesignerState): KnownRoles {
  return state.result?.ports ?? {};
}

const storeUsers = new WeakMap<TopologyDocument["edges"], ReadonlySet<string>>();

/** Whether a store is connected to a node. */
export function hasStore(state: DesignerState, node: string): boolean {
  const { edges } = drawnOf(state).document;
  let users = storeUsers.get(edges);
  if (users === undefined) {
    users = new Set(
      edges.filter((edge) => targetPort(edge) === "store").map((edge) => edge.target),
    );
    storeUsers.set(edges, users);
  }
  return users.has(node);
}

const shuffledEdges = new WeakMap<Plan, ReadonlySet<number>>();

const innerShuffles = new WeakMap<NonNullable<CompileResult["fragments"]>, ReadonlySet<string>>();

/** Whether records are repartitioned on their way into a node within a fragment. */
function isInnerShuffle({ result }: DesignerState, edge: DocumentEdge): boolean {
  const { fragments } = result ?? {};
  if (fragments === undefined) return false;
  let inputs = innerShuffles.get(fragments);
  if (inputs === undefined) {
    const inner = Object.values(fragments).flatMap(({ nodes }) => nodes);
    inputs = new Set(inner.flatMap(({ id, shuffled = [] }) => shuffled.map((at) => `${id}.${at}`)));
    innerShuffles.set(fragments, inputs);
  }
  return inputs.has(`${edge.target}.${targetPort(edge)}`);
}

/** Whether a drawn edge is a shuffle; `index`: of the document's edge for which it stands, if known. */
export function isShuffle(state: DesignerState, edge: DocumentEdge, index?: number): boolean {
  const plan = state.result?.plan ?? null;
  if (plan === null) return false;
  const { owners, stands } = drawnOf(state);
  if (owners.has(edge.target)) return isInnerShuffle(state, edge);
  let shuffled = shuffledEdges.get(plan);
  if (shuffled === undefined) {
    shuffled = new Set(plan.edges.filter((edge) => edge.shuffle).map((edge) => edge.index));
    shuffledEdges.set(plan, shuffled);
  }
  return shuffled.has(index ?? state.document.edges.indexOf(stands.get(edgeId(edge)) ?? edge));
}

/** Whether records can be pinned on an edge: it is the document's, or joins nodes that run. */
export function canPin(state: DesignerState, edge: DocumentEdge): boolean {
  if (state.document.edges.includes(edge)) return true;
  const nodes = drawnOf(state).document.nodes.filter(
    ({ id }) => id === edge.source || id === edge.target,
  );
  return nodes.every((node) => !isFragment(node));
}

/** The hue of a kind, named after its family; a source of a table has the hue of tables. */
export function hueOf(catalog: Catalog, kind: string): string {
  const entry = kindOf(catalog, kind);
  if (entry === undefined) return "stateless";
  const family = entry.family.replace(/([^s])s$/, "$1");
  if (family === "source" && entry.outputs.some((output) => output.role.includes("table"))) {
    return "table";
  }
  return family;
}
