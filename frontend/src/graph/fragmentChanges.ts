/** Changes of documents with fragments: make one of nodes, use one, update it, dissolve it. */

import { addBends, type Bend, type Divided, divided, pointsOf, withBendsFor } from "./bends";
import type { Catalog } from "./catalog";
import { freshId, moveNodes } from "./changes";
import { cut } from "./clipboard";
import {
  asObject,
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  isStoreKind,
  type Json,
  makeEdge,
  type Position,
  paramsOf,
  positionOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
  withDrawing,
} from "./document";
import {
  addMarks,
  fragmentAround,
  framed,
  groupAround,
  groupOf,
  notesOf,
  pruned,
  setGroupOf,
} from "./drawing";
import {
  type Definition,
  definitionOf,
  definitionsOf,
  FRAGMENT,
  INPUT,
  isFragment,
  OUTPUT,
} from "./fragments";
import { boundsOf, boxOf, GRID, overlap } from "./geometry";
import { draw, insideOf } from "./opening";
import { parametersOf, placeOf } from "./parameters";

interface PortTypes {
  readonly role: string;
  readonly key: string;
  readonly value: string;
}
type KnownPorts = Readonly<Record<string, Readonly<Record<string, PortTypes>>>>;

/** A port that a selection would get as a fragment. */
export interface CutPort {
  readonly kind: typeof INPUT | typeof OUTPUT;
  /** The node and port that its records come from. */
  readonly source: string;
  readonly port: string;
  readonly params: Readonly<Record<string, Json>>;
  /** The edges that it stands for. */
  readonly edges: readonly DocumentEdge[];
}

/** The ports at the cut edges of a selection; null if a store is on the other side. */
export function cutPorts(
  document: TopologyDocument,
  chosen: ReadonlySet<string>,
  known: KnownPorts,
): CutPort[] | null {
  const found: (CutPort & { edges: DocumentEdge[] })[] = [];
  // Children between those of a port keep their places: each run of cut edges has a port of its own.
  const last = new Map<string, { cut: boolean; port: CutPort & { edges: DocumentEdge[] } }>();
  for (const edge of document.edges) {
    const inside = chosen.has(edge.source);
    const cut = inside !== chosen.has(edge.target);
    const key = `${edge.source} ${sourcePort(edge)}`;
    const before = last.get(key);
    if (!cut) {
      if (before !== undefined) last.set(key, { ...before, cut: false });
      continue;
    }
    if (targetPort(edge) === "store") return null;
    if (before?.cut === true) {
      before.port.edges.push(edge);
      continue;
    }
    const types = known[edge.source]?.[sourcePort(edge)];
    const made = {
      kind: inside ? OUTPUT : INPUT,
      source: edge.source,
      port: sourcePort(edge),
      params: inside ? {} : inputParams(types),
      edges: [edge],
    } as const;
    const port = { ...made, edges: [edge] };
    found.push(port);
    last.set(key, { cut: true, port });
  }
  return found;
}

function inputParams(types: PortTypes | undefined): Record<string, Json> {
  if (types === undefined) return { role: "stream" };
  const windowed = types.role === "windowed_table";
  const params: Record<string, Json> = { role: windowed ? "table" : types.role };
  if (!windowed && !types.key.includes("?")) params.key = types.key;
  if (!types.value.includes("?")) params.value = types.value;
  return params;
}

/** Names for ports: `in`, `in-2`, `out`. */
export function proposedNames(ports: readonly CutPort[], chosen: ReadonlySet<string>): string[] {
  const taken = new Set(chosen);
  return ports.map(({ kind }) => {
    const name = freshId(taken, kind === INPUT ? "in" : "out");
    taken.add(name);
    return name;
  });
}

/** The parameters of the topology that nodes refer to. */
function used(document: TopologyDocument, nodes: readonly DocumentNode[]) {
  const text = JSON.stringify(nodes);
  return parametersOf(document).filter(([name]) => text.includes(placeOf(name)));
}

function withDefinitions(
  document: TopologyDocument,
  fragments: NonNullable<TopologyDocument["fragments"]>,
): TopologyDocument {
  const { fragments: _old, ...rest } = document;
  return Object.keys(fragments).length === 0 ? rest : { ...rest, fragments };
}

/** The document without definitions that none of its nodes use. */
export function withoutUnused(document: TopologyDocument): TopologyDocument {
  return withDefinitions(document, definitionsOf(document.fragments, document.nodes));
}

/** Divides the bends of a cut edge into those among the chosen nodes and those outside. */
function cutBends(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
): (edge: DocumentEdge | undefined) => Divided {
  const nodes = document.nodes.filter((node) => chosen.has(node.id));
  const bounds = boundsOf(nodes.map((node) => boxOf(catalog, node)));
  const area = bounds === null ? undefined : framed(bounds);
  const points = pointsOf(document);
  return (edge) => {
    const own = (edge === undefined ? undefined : points.get(edgeId(edge))) ?? [];
    const [source, target] = [edge?.source, edge?.target].map((id) =>
      chosen.has(id ?? "") ? area : undefined,
    );
    return divided(own, source, target);
  };
}

/** The document of a new fragment, made of nodes. */
export function fragmentOf(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  name: string,
  ports: readonly CutPort[],
  names: readonly string[],
): TopologyDocument {
  const nodes = document.nodes.filter((node) => chosen.has(node.id));
  // Stores lie below the line of the records.
  const drawn = nodes.filter((each) => !isStoreKind(each.kind));
  const places = (drawn.length === 0 ? nodes : drawn).map(positionOf);
  const left = Math.min(...places.map(({ x }) => x));
  const right = Math.max(...places.map(({ x }) => x));
  const top = Math.min(...places.map(({ y }) => y));
  const counts = { [INPUT]: 0, [OUTPUT]: 0 };
  const own = ports.map(({ kind, params }, index): DocumentNode => {
    const row = counts[kind];
    counts[kind] += 1;
    const x = kind === INPUT ? left - 280 : right + 280;
    const id = names[index] ?? "";
    return { id, kind, label: id, position: { x, y: top + row * 96 }, params };
  });
  const edges: DocumentEdge[] = [];
  const bends: Bend[] = [];
  const partsOf = cutBends(document, catalog, chosen);
  const add = (edge: DocumentEdge, points: Bend["points"]) => {
    edges.push(edge);
    if (points.length > 0) bends.push({ ...edge, points });
  };
  ports.forEach(({ kind, edges: own }, index) => {
    if (kind !== INPUT) return;
    const id = names[index] ?? "";
    for (const edge of own)
      add(makeEdge(id, "out", edge.target, targetPort(edge)), [...partsOf(edge).inTarget]);
  });
  for (const edge of document.edges) {
    if (!chosen.has(edge.source)) continue;
    if (chosen.has(edge.target)) edges.push(edge);
    else {
      const index = ports.findIndex((port) => port.kind === OUTPUT && port.edges[0] === edge);
      if (index < 0) continue;
      const made = makeEdge(edge.source, sourcePort(edge), names[index] ?? "", "in");
      add(made, [...partsOf(edge).inSource]);
    }
  }
  const parameters = used(document, nodes).map(([id, { values: _values, ...row }]) => [id, row]);
  const { drawing } = cut(document, chosen);
  const made: TopologyDocument = {
    format: document.format,
    name,
    nodes: [
      ...own.filter(({ kind }) => kind === INPUT),
      ...nodes,
      ...own.filter(({ kind }) => kind === OUTPUT),
    ],
    edges,
    ...(parameters.length === 0 ? {} : { parameters: Object.fromEntries(parameters) }),
  };
  const marked = addMarks(made, drawing, (id) => id, { x: 0, y: 0 }).document;
  return withDefinitions(
    addBends(marked, [...(drawing?.bends ?? []), ...bends]),
    definitionsOf(document.fragments, nodes),
  );
}

/** The definition that other documents contain of a fragment's document. */
function definitionIn(document: TopologyDocument): Definition {
  const { nodes, edges, parameters, drawing } = document;
  return {
    nodes,
    edges,
    ...(parameters === undefined ? {} : { parameters }),
    ...(drawing === undefined ? {} : { drawing }),
  } as Definition;
}

/** The document with a definition, and with those that it uses. */
function defined(
  document: TopologyDocument,
  reference: string,
  fragment: TopologyDocument,
): TopologyDocument {
  const fragments = {
    ...document.fragments,
    ...fragment.fragments,
    [reference]: definitionIn(fragment),
  };
  return { ...document, fragments };
}

/** Where a fragment stands for nodes. */
function middleOf(nodes: readonly DocumentNode[]): Position {
  // Stores lie below the line of the records.
  const drawn = nodes.filter((each) => !isStoreKind(each.kind));
  const places = (drawn.length === 0 ? nodes : drawn).map(positionOf);
  const middle = (axis: "x" | "y") =>
    Math.round(places.reduce((sum, each) => sum + each[axis], 0) / places.length / GRID) * GRID;
  return { x: middle("x"), y: middle("y") };
}

/** Replaces nodes by a fragment that was made of them. The ids of nodes stay, and with them their state. */
export function replaced(
  document: TopologyDocument,
  catalog: Catalog,
  chosen: ReadonlySet<string>,
  ports: readonly CutPort[],
  names: readonly string[],
  reference: string,
  fragment: TopologyDocument,
): { document: TopologyDocument; id: string } {
  const nodes = document.nodes.filter((node) => chosen.has(node.id));
  const taken = new Set(document.nodes.map((node) => node.id));
  const id = freshId(taken, fragment.name);
  const inherited = used(document, nodes).map(([name]) => [name, placeOf(name)]);
  const node: DocumentNode = {
    id,
    kind: FRAGMENT,
    label: fragment.name,
    position: middleOf(nodes),
    params: {
      fragment: reference,
      ...(inherited.length === 0 ? {} : { arguments: Object.fromEntries(inherited) }),
      identities: Object.fromEntries(
        nodes.filter((each) => !isFragment(each)).map((each) => [each.id, each.id]),
      ),
    },
  };
  const first = document.nodes.findIndex((each) => chosen.has(each.id));
  const kept: DocumentNode[] = [];
  document.nodes.forEach((each, index) => {
    if (index === first) kept.push(node);
    if (!chosen.has(each.id)) kept.push(each);
  });
  const bends: Bend[] = [];
  const partsOf = cutBends(document, catalog, chosen);
  const edges = document.edges.flatMap((edge) => {
    const index = ports.findIndex((port) => port.edges.includes(edge));
    const port = ports[index];
    if (port === undefined) return chosen.has(edge.source) ? [] : [edge];
    if (port.kind === INPUT && port.edges[0] !== edge) return [];
    const name = names[index] ?? "";
    const next =
      port.kind === OUTPUT
        ? makeEdge(id, name, edge.target, targetPort(edge))
        : makeEdge(edge.source, sourcePort(edge), id, name);
    const points = [...partsOf(edge).between];
    if (points.length > 0) bends.push({ ...next, points });
    return [next];
  });
  const around = groupAround(document, chosen)?.id;
  const made = defined({ ...document, nodes: kept, edges }, reference, fragment);
  const bent = pruned(addBends(setGroupOf(made, id, around), bends));
  return { document: withoutUnused(bent), id };
}

/** Adds a node that uses a version of a fragment. */
export function addFragment(
  document: TopologyDocument,
  reference: string,
  fragment: TopologyDocument,
  label: string,
  position: Position,
): { document: TopologyDocument; id: string } {
  const id = freshId(new Set(document.nodes.map((node) => node.id)), label);
  const node: DocumentNode = {
    id,
    kind: FRAGMENT,
    label,
    position,
    params: { fragment: reference },
  };
  return {
    document: defined({ ...document, nodes: [...document.nodes, node] }, reference, fragment),
    id,
  };
}

/** Uses another version of a fragment at a node. Arguments of parameters that it does not have are left out. */
export function updateFragment(
  document: TopologyDocument,
  id: string,
  reference: string,
  fragment: TopologyDocument,
): TopologyDocument {
  const nodes = document.nodes.map((node): DocumentNode => {
    if (node.id !== id) return node;
    const { arguments: given, ...rest } = paramsOf(node);
    const kept = Object.entries(asObject(given)).filter(
      ([name]) => fragment.parameters?.[name] !== undefined,
    );
    const all: Record<string, Json> =
      kept.length === 0 ? {} : { arguments: Object.fromEntries(kept) };
    return { ...node, params: { ...rest, ...all, fragment: reference } };
  });
  return withoutUnused(defined({ ...document, nodes }, reference, fragment));
}

/** Sets an argument of a fragment node; undefined: the default of its parameter holds. */
export function setArgument(
  document: TopologyDocument,
  id: string,
  name: string,
  value: Json | undefined,
): TopologyDocument {
  const nodes = document.nodes.map((node): DocumentNode => {
    if (node.id !== id) return node;
    const { arguments: given, ...rest } = paramsOf(node);
    const { [name]: _old, ...others } = asObject(given);
    const all: Record<string, Json> = value === undefined ? others : { ...others, [name]: value };
    const some = Object.keys(all).length > 0;
    const params: Record<string, Json> = some ? { ...rest, arguments: all } : rest;
    return { ...node, params };
  });
  return { ...document, nodes };
}

/**
 * Replaces a fragment node by the nodes of its definition, under the ids that they have when it runs. Its parameters
 * become parameters of the topology, with the arguments as their defaults. The nodes lie around the place of the fragment
 * node or, if they would cover others there, as when it is opened in place.
 */
export function dissolved(
  document: TopologyDocument,
  catalog: Catalog,
  id: string,
): { document: TopologyDocument; ids: string[] } | null {
  const node = document.nodes.find((each) => each.id === id);
  const definition = node === undefined ? undefined : definitionOf(document.fragments, node);
  if (node === undefined || definition === undefined) return null;
  const parameters: Record<string, Json> = {
    ...(document.parameters as Record<string, Json> | undefined),
  };
  const renamed = new Map<string, Json>();
  for (const [name, row] of Object.entries(definition.parameters ?? {})) {
    const value = asObject(paramsOf(node).arguments)[name];
    if (typeof value === "string" && /^\$\{[^{}]*\}$/.test(value)) {
      renamed.set(name, value);
      continue;
    }
    let fresh = `${id.replaceAll("-", "_")}_${name}`;
    while (parameters[fresh] !== undefined) fresh += "_2";
    parameters[fresh] = {
      ...(row as Record<string, Json>),
      ...(value === undefined ? {} : { default: value }),
    };
    renamed.set(name, placeOf(fresh));
  }
  const change = (text: string): Json =>
    text.replace(/\$\{([^{}]*)\}/g, (place, name: string) => String(renamed.get(name) ?? place));
  const inside = insideOf(document, node, definition, change);
  const ids = new Set(document.nodes.map((each) => each.id));
  if (inside.nodes.some((each) => each.id !== id && ids.has(each.id))) return null;
  const { base, by, places } = unfolded(document, catalog, node, inside.nodes);
  const nodes = inside.nodes.map((each): DocumentNode => {
    const { x, y } = positionOf(each);
    return { ...each, position: places.get(each.id) ?? { x: x + by.x, y: y + by.y } };
  });
  const made: TopologyDocument = {
    ...base,
    nodes: base.nodes.flatMap((each) => (each.id === id ? nodes : [each])),
    edges: inside.edges,
    ...(Object.keys(parameters).length === 0
      ? {}
      : { parameters: parameters as NonNullable<TopologyDocument["parameters"]> }),
  };
  const bent = withBendsFor(made, id, inside.bends(by, base));
  const around = groupOf(document, id)?.id;
  const { drawing } = definition as Pick<TopologyDocument, "drawing">;
  let drawn = addMarks(bent, drawing, inside.idOf, by, around).document;
  for (const each of nodes) {
    if (groupOf(drawn, each.id) === undefined) drawn = setGroupOf(drawn, each.id, around);
  }
  return { document: withoutUnused(pruned(drawn)), ids: nodes.map((each) => each.id) };
}

const NOWHERE: ReadonlyMap<string, Position> = new Map();

/**
 * Where the nodes of a dissolved fragment go: the document with room for them, by how much they are moved, and their places
 * if that is not all.
 */
function unfolded(
  document: TopologyDocument,
  catalog: Catalog,
  node: DocumentNode,
  inner: readonly DocumentNode[],
): { base: TopologyDocument; by: Position; places: ReadonlyMap<string, Position> } {
  const [at, middle] = [positionOf(node), middleOf(inner)];
  const by = { x: at.x - middle.x, y: at.y - middle.y };
  const others = document.nodes.filter((each) => each !== node).map((each) => boxOf(catalog, each));
  const covers = inner.some((each) => {
    const box = boxOf(catalog, each);
    const moved = { ...box, x: box.x + by.x, y: box.y + by.y };
    return others.some((other) => overlap(moved, other, 0));
  });
  if (!covers && inner.every((each) => each.position !== undefined)) {
    return { base: document, by, places: NOWHERE };
  }
  const opened = draw(document, catalog, {}, [node.id]).document;
  const places = new Map(opened.nodes.map((each) => [each.id, positionOf(each)]));
  const first = inner[0];
  const there = first && places.get(first.id);
  // It is not opened in a collapsed group.
  if (first === undefined || there === undefined) return { base: document, by, places: NOWHERE };
  const moved = moveNodes(document, new Map([...places].filter(([id]) => id !== node.id)));
  const { x, y } = positionOf(first);
  return {
    base: withDrawing(moved, {
      notes: notesOf(opened).filter(({ id }) => fragmentAround(id) === null),
    }),
    by: { x: there.x - x, y: there.y - y },
    places,
  };
}
