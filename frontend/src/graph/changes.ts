/** Every change of a document, as a function from the old one to the new one. */

import { movedBends, renamedBends, withoutLostBends } from "./bends";
import { type Catalog, kindOf, portsOf, startingParams } from "./catalog";
import { firstFit, firstSource, type PortAddress } from "./connect";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  findNode,
  type Json,
  makeEdge,
  type Position,
  paramsOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";
import { groupOf, pruned, setGroupOf } from "./drawing";
import { boxOf, GRID, snap } from "./geometry";
import type { KnownRoles } from "./roles";
import { reachable } from "./walk";

/** Makes an id from words that is not in `taken`: `count`, `count-2`, … */
export function freshId(taken: ReadonlySet<string>, words: string): string {
  const cleaned = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  const base = cleaned === "" ? "node" : cleaned;
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}

function ids(document: TopologyDocument): Set<string> {
  return new Set(document.nodes.map((node) => node.id));
}

function idWords(kind: string): string {
  const [family = "", name = ""] = kind.split(".");
  if (family === "source") return name === "stream" ? "stream" : name;
  if (family === "store" || family === "join") return family;
  if (family === "sink") return name === "topic" ? "sink" : name;
  if (family === "fragment") return name === "input" ? "in" : "out";
  return name === "" ? family : name;
}

function freshStoreName(document: TopologyDocument, preferred: string): string {
  const names = new Set(
    document.nodes
      .map((node) => paramsOf(node).name)
      .filter((name): name is string => typeof name === "string"),
  );
  if (!names.has(preferred)) return preferred;
  let number = 2;
  while (names.has(`${preferred}-${number}`)) number += 1;
  return `${preferred}-${number}`;
}

/** Adds a node of a kind with its initial parameters. */
export function addNode(
  document: TopologyDocument,
  catalog: Catalog,
  kind: string,
  position: Position,
): { document: TopologyDocument; id: string } {
  const entry = kindOf(catalog, kind);
  const id = freshId(ids(document), idWords(kind));
  const params: Record<string, Json> = entry === undefined ? {} : startingParams(entry);
  if (kind.startsWith("store.")) params.name = freshStoreName(document, id);
  const node: DocumentNode = {
    id,
    kind,
    label: entry?.title ?? kind,
    position: snap(position),
    params,
  };
  return { document: { ...document, nodes: [...document.nodes, node] }, id };
}

export function connect(
  document: TopologyDocument,
  from: PortAddress,
  to: PortAddress,
): TopologyDocument {
  const edge = makeEdge(from.node, from.port, to.node, to.port);
  if (document.edges.some((other) => edgeId(other) === edgeId(edge))) return document;
  return { ...document, edges: [...document.edges, edge] };
}

/** Moves one end of an edge. It keeps its place among its siblings, and with it the order of children. */
export function reconnect(
  document: TopologyDocument,
  edge: DocumentEdge,
  from: PortAddress,
  to: PortAddress,
): TopologyDocument {
  const moved = makeEdge(from.node, from.port, to.node, to.port);
  return withoutLostBends({
    ...document,
    edges: document.edges.map((other) => (edgeId(other) === edgeId(edge) ? moved : other)),
  });
}

export function removeEdges(
  document: TopologyDocument,
  edges: ReadonlySet<string>,
): TopologyDocument {
  const kept = document.edges.filter((edge) => !edges.has(edgeId(edge)));
  if (kept.length === document.edges.length) return document;
  return withoutLostBends({ ...document, edges: kept });
}

export function removeNodes(
  document: TopologyDocument,
  nodes: ReadonlySet<string>,
): TopologyDocument {
  const kept = document.nodes.filter((node) => !nodes.has(node.id));
  if (kept.length === document.nodes.length) return document;
  return pruned({
    ...document,
    nodes: kept,
    edges: document.edges.filter((edge) => !nodes.has(edge.source) && !nodes.has(edge.target)),
  });
}

/**
 * Removes nodes and connects their predecessors to their successors where the ports fit. Only a removed node's main
 * input is connected: of a join, the left side.
 */
export function removeAndReconnect(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  nodes: ReadonlySet<string>,
): TopologyDocument {
  let now = document;
  for (const id of nodes) {
    const node = findNode(now, id);
    if (node === undefined) continue;
    const main = portsOf(catalog, node).find((port) => port.side === "input")?.name;
    const before = now.edges.filter((edge) => edge.target === id && targetPort(edge) === main);
    const after = now.edges.filter((edge) => edge.source === id);
    now = removeNodes(now, new Set([id]));
    for (const out of after) {
      for (const feeding of before) {
        const from = { node: feeding.source, port: sourcePort(feeding) };
        const preferred = { node: out.target, port: targetPort(out) };
        const to = firstFitOf(now, catalog, known, from, preferred);
        // Records do not take the place of a store that was read.
        if (to === null || (preferred.port === "store" && to.port !== "store")) continue;
        now = connect(now, from, to);
      }
    }
  }
  return now;
}

function firstFitOf(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  from: PortAddress,
  preferred: PortAddress,
): PortAddress | null {
  const fit = firstSource(document, catalog, known, from.node, preferred);
  return fit?.port === from.port ? preferred : null;
}

/**
 * Inserts an unconnected node into an edge. The edge to the new node takes the place of the old edge, which keeps the
 * order of children.
 */
export function insertOnEdge(
  document: TopologyDocument,
  catalog: Catalog,
  known: KnownRoles,
  edge: DocumentEdge,
  node: string,
): TopologyDocument {
  const without = removeEdges(document, new Set([edgeId(edge)]));
  const from = { node: edge.source, port: sourcePort(edge) };
  const to = { node: edge.target, port: targetPort(edge) };
  const entry = firstFit(without, catalog, known, from, node);
  if (entry === null) return document;
  const exit = firstSource(connect(without, from, entry), catalog, known, node, to);
  const first = makeEdge(from.node, from.port, entry.node, entry.port);
  const edges = document.edges.map((other) => (edgeId(other) === edgeId(edge) ? first : other));
  // Between two nodes of a group, it belongs to the group.
  const group = groupOf(document, from.node);
  const inside = group !== undefined && group === groupOf(document, to.node);
  const spliced = withoutLostBends({ ...document, edges });
  const joined = inside ? setGroupOf(spliced, node, group.id) : spliced;
  return exit === null ? joined : connect(joined, exit, to);
}

/** The gap between neighboring nodes that `makeRoom` creates. */
const ROOM = GRID * 6;

/**
 * Makes room for a node that was inserted into an edge: places it to the right of its predecessor, and moves what
 * follows as far as needed.
 */
export function makeRoom(
  document: TopologyDocument,
  catalog: Catalog,
  id: string,
): TopologyDocument {
  const node = findNode(document, id);
  const feeding = document.edges.find((edge) => edge.target === id);
  const source = feeding === undefined ? undefined : findNode(document, feeding.source);
  if (node === undefined || source === undefined) return document;
  const before = boxOf(catalog, source);
  const own = boxOf(catalog, node);
  const next = document.edges
    .filter((edge) => edge.source === id)
    .map((edge) => findNode(document, edge.target))
    .filter((target) => target !== undefined)
    .map((target) => boxOf(catalog, target))
    // A wire that runs back to the left needs no room on the right.
    .filter((box) => box.x >= before.x + before.width);
  if (next.length === 0) return document;
  const x = Math.max(own.x, before.x + before.width + ROOM);
  const free = Math.min(...next.map((box) => box.x));
  const by = Math.max(0, x + own.width + ROOM - free);
  const positions = new Map<string, Position>([[id, { x, y: own.y }]]);
  if (by > 0) {
    const after = new Set(reachable(document, [id], "down"));
    after.delete(id);
    for (const edge of document.edges) {
      if (targetPort(edge) === "store" && after.has(edge.target)) after.add(edge.source);
    }
    for (const moved of document.nodes) {
      if (!after.has(moved.id)) continue;
      const place = boxOf(catalog, moved);
      if (place.x >= free - ROOM) positions.set(moved.id, snap({ x: place.x + by, y: place.y }));
    }
  }
  return moveNodes(document, positions);
}

/** Moves nodes. Bends of edges between nodes that move alike move along. */
export function moveNodes(
  document: TopologyDocument,
  positions: ReadonlyMap<string, Position>,
): TopologyDocument {
  let moved = false;
  const nodes = document.nodes.map((node) => {
    const position = positions.get(node.id);
    if (position === undefined) return node;
    const old = node.position;
    if (old !== undefined && old.x === position.x && old.y === position.y) return node;
    moved = true;
    return { ...node, position: { x: position.x, y: position.y } };
  });
  return moved ? movedBends(document, { ...document, nodes }) : document;
}

function changeNode(
  document: TopologyDocument,
  id: string,
  how: (node: DocumentNode) => DocumentNode,
): TopologyDocument {
  return { ...document, nodes: document.nodes.map((node) => (node.id === id ? how(node) : node)) };
}

export function setLabel(document: TopologyDocument, id: string, label: string): TopologyDocument {
  return changeNode(document, id, (node) => ({ ...node, label }));
}

export function setDescription(document: TopologyDocument, id: string, description: string) {
  return changeNode(document, id, ({ description: _old, ...node }) =>
    description === "" ? node : { ...node, description },
  );
}

function outputNames(catalog: Catalog, node: DocumentNode, side: "input" | "output") {
  return portsOf(catalog, node)
    .filter((port) => port.side === side)
    .map((port) => port.name);
}

/**
 * Sets a parameter, or removes it if the value is `undefined`. Edges follow renamed ports; edges of removed ports are
 * removed.
 */
export function setParam(
  document: TopologyDocument,
  catalog: Catalog,
  id: string,
  name: string,
  value: Json | undefined,
): TopologyDocument {
  const node = findNode(document, id);
  if (node === undefined) return document;
  const { [name]: old, ...others } = paramsOf(node);
  if (JSON.stringify(old) === JSON.stringify(value)) return document;
  const params = value === undefined ? others : { ...paramsOf(node), [name]: value };
  const changed = { ...node, params };
  let edges = document.edges;
  let bent = document;
  for (const side of ["output", "input"] as const) {
    const before = outputNames(catalog, node, side);
    const after = outputNames(catalog, changed, side);
    if (before.join("\n") === after.join("\n")) continue;
    const renames = new Map<string, string>();
    if (before.length === after.length) {
      before.forEach((port, index) => {
        const now = after[index];
        if (now !== undefined && now !== port && !after.includes(port)) renames.set(port, now);
      });
    }
    const follow = (edge: DocumentEdge): DocumentEdge[] => {
      const mine = side === "output" ? edge.source === id : edge.target === id;
      const port = side === "output" ? sourcePort(edge) : targetPort(edge);
      if (!mine || after.includes(port) || (side === "input" && port === "store")) return [edge];
      const now = renames.get(port);
      if (now === undefined) return [];
      return [
        side === "output"
          ? makeEdge(edge.source, now, edge.target, targetPort(edge))
          : makeEdge(edge.source, sourcePort(edge), edge.target, now),
      ];
    };
    edges = edges.flatMap(follow);
    bent = renamedBends(bent, (edge) => follow(edge)[0] ?? edge);
  }
  return withoutLostBends({ ...changeNode(bent, id, () => changed), edges });
}

/**
 * Makes a node one of another kind. It loses the parameters that the kind does not have, and a label that was the title
 * of its kind becomes that of the new one.
 */
export function changeKind(
  document: TopologyDocument,
  catalog: Catalog,
  id: string,
  kind: string,
): TopologyDocument {
  const node = findNode(document, id);
  const entry = kindOf(catalog, kind);
  if (node === undefined || entry === undefined || node.kind === kind) return document;
  const names = new Set(entry.parameters.map(({ name }) => name));
  const params = Object.fromEntries(
    Object.entries(paramsOf(node)).filter(([name]) => names.has(name)),
  );
  const named = node.label === kindOf(catalog, node.kind)?.title;
  return changeNode(document, id, (now) => ({
    ...now,
    kind,
    params: { ...startingParams(entry), ...params },
    ...(named ? { label: entry.title } : {}),
  }));
}

export function setSetting(
  document: TopologyDocument,
  name: string,
  value: Json | undefined,
): TopologyDocument {
  const { [name]: _old, ...others } = document.settings ?? {};
  return { ...document, settings: value === undefined ? others : { ...others, [name]: value } };
}

export function setPartitions(
  document: TopologyDocument,
  topic: string,
  partitions: number | undefined,
): TopologyDocument {
  const { [topic]: old, ...others } = document.topics ?? {};
  if (partitions === undefined) return { ...document, topics: others };
  return { ...document, topics: { ...document.topics, [topic]: { ...old, partitions } } };
}

/** Changes the order in which the children of a node get a record, by moving one of its edges by one place. */
export function moveChild(document: TopologyDocument, edge: string, by: 1 | -1): TopologyDocument {
  const at = document.edges.findIndex((other) => edgeId(other) === edge);
  const moved = document.edges[at];
  if (moved === undefined) return document;
  const siblings = document.edges
    .map((other, index) => ({ other, index }))
    .filter(({ other }) => other.source === moved.source && targetPort(other) !== "store");
  const place = siblings.findIndex(({ index }) => index === at);
  const other = siblings[place + by];
  if (other === undefined) return document;
  const edges = [...document.edges];
  edges[at] = other.other;
  edges[other.index] = moved;
  return { ...document, edges };
}
