/** Compares and merges two documents with a common ancestor, node by node. */

import type { DocumentEdge, DocumentNode, TopologyDocument } from "../graph/document";
import { edgeId } from "../graph/document";
import { freshMark, pruned } from "../graph/drawing";
import { definitionsOf } from "../graph/fragments";

export type Side = "mine" | "theirs";

export interface NodeDifference {
  id: string;
  label: string;
  kind: string;
  base: DocumentNode | null;
  mine: DocumentNode | null;
  theirs: DocumentNode | null;
  /** Both sides changed the node differently, and someone has to choose. Otherwise, the side that changed it wins. */
  conflict: boolean;
  /** The side that counts unless someone chooses otherwise. */
  proposed: Side;
}

/** A node as text, without its position, which does not affect how it runs. */
function essence(node: DocumentNode | null): string {
  if (node === null) return "";
  const { position: _position, ...rest } = node;
  return canonical(rest);
}

/** JSON with sorted field names, so that their order does not matter. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

function byId(document: TopologyDocument | null): Map<string, DocumentNode> {
  return new Map((document?.nodes ?? []).map((node) => [node.id, node]));
}

/** Nodes that differ between the two sides, apart from their positions. */
export function differences(
  base: TopologyDocument | null,
  mine: TopologyDocument,
  theirs: TopologyDocument,
): NodeDifference[] {
  const [baseNodes, myNodes, theirNodes] = [byId(base), byId(mine), byId(theirs)];
  const ids = new Set([...myNodes.keys(), ...theirNodes.keys()]);
  const found: NodeDifference[] = [];
  for (const id of ids) {
    const [ancestor, my, their] = [baseNodes, myNodes, theirNodes].map(
      (nodes) => nodes.get(id) ?? null,
    ) as [DocumentNode | null, DocumentNode | null, DocumentNode | null];
    if (essence(my) === essence(their)) continue;
    const iChanged = essence(my) !== essence(ancestor);
    const theyChanged = essence(their) !== essence(ancestor);
    const shown = my ?? their;
    found.push({
      id,
      label: shown?.label ?? id,
      kind: shown?.kind ?? "",
      base: ancestor,
      mine: my,
      theirs: their,
      conflict: iChanged && theyChanged,
      proposed: iChanged ? "mine" : "theirs",
    });
  }
  return found;
}

/**
 * The merged document, with a choice for each node that differs.
 *
 * An edge that one side added or removed since the ancestor is added or removed; edges of removed nodes are removed.
 * Settings, topics and description are `mine` if they differ from the ancestor, else `theirs`; so is each group, note, bend
 * and other item of the drawing, and the position of each node.
 */
export function merged(
  base: TopologyDocument | null,
  mine: TopologyDocument,
  theirs: TopologyDocument,
  choices: ReadonlyMap<string, Side>,
): TopologyDocument {
  const [baseNodes, myNodes, theirNodes] = [byId(base), byId(mine), byId(theirs)];
  const moved = (id: string) => same(myNodes.get(id), baseNodes.get(id));
  const differing = new Map(differences(base, mine, theirs).map((each) => [each.id, each]));
  const order = [...new Set([...theirNodes.keys(), ...myNodes.keys()])];
  const nodes: DocumentNode[] = [];
  for (const id of order) {
    const side = choices.get(id) ?? differing.get(id)?.proposed ?? (moved(id) ? "theirs" : "mine");
    const node = (side === "mine" ? myNodes : theirNodes).get(id);
    if (node !== undefined) nodes.push(node);
  }
  const kept = new Set(nodes.map((node) => node.id));
  const edges = mergedEdges(base, mine, theirs).filter(
    (edge) => kept.has(edge.source) && kept.has(edge.target),
  );
  const settled = <K extends "settings" | "topics" | "description" | "parameters">(field: K) =>
    same(mine[field], base?.[field]) ? theirs[field] : mine[field];
  const joined: TopologyDocument = { ...theirs, name: mine.name, nodes, edges };
  const rest = {
    settings: settled("settings"),
    topics: settled("topics"),
    description: settled("description"),
    parameters: settled("parameters"),
  };
  const drawing = mergedDrawing(base?.drawing, mine.drawing, theirs.drawing);
  const { drawing: _theirs, fragments: _used, ...undrawn } = joined;
  const fragments = definitionsOf({ ...theirs.fragments, ...mine.fragments }, nodes);
  return pruned({
    ...undrawn,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(drawing === undefined ? {} : { drawing }),
    ...(Object.keys(fragments).length === 0 ? {} : { fragments }),
  });
}

type Drawing = NonNullable<TopologyDocument["drawing"]>;
type Item = NonNullable<Drawing[Exclude<keyof Drawing, "program">]>[number];

const same = (one: unknown, other: unknown) => canonical(one ?? null) === canonical(other ?? null);

/** What tells the items of a part of a drawing apart. */
function keyOf(item: Item): string {
  if (typeof item === "string") return item;
  if ("id" in item) return item.id;
  return "node" in item ? item.node : edgeId(item);
}

/** A drawing with what each side added to, removed from and changed in its lists. */
function mergedDrawing(
  base: Drawing | undefined,
  mine: Drawing | undefined,
  theirs: Drawing | undefined,
): Drawing | undefined {
  if (same(mine, base)) return theirs;
  if (same(theirs, base)) return mine;
  const found: Record<string, unknown> = {};
  for (const part of ["groups", "notes", "bends", "pins", "muted", "doubles"] as const) {
    const items = mergedItems(base?.[part] ?? [], mine?.[part] ?? [], theirs?.[part] ?? []);
    if (items.length > 0) found[part] = items;
  }
  const program = same(mine?.program, base?.program) ? theirs?.program : mine?.program;
  if (program !== undefined) found.program = program;
  return Object.keys(found).length === 0 ? undefined : (found as Drawing);
}

function mergedItems(
  base: readonly Item[],
  mine: readonly Item[],
  theirs: readonly Item[],
): readonly Item[] {
  const byKey = (items: readonly Item[]) => new Map(items.map((item) => [keyOf(item), item]));
  const [before, my, their] = [byKey(base), byKey(mine), byKey(theirs)];
  const found: Item[] = [];
  for (const item of mine) {
    const [old, other] = [before.get(keyOf(item)), their.get(keyOf(item))];
    if (old === undefined || !same(item, old)) found.push(item);
    else if (other !== undefined) found.push(other);
  }
  // Two people number what they add alike.
  const taken = [...mine, ...theirs].flatMap((item) =>
    typeof item === "object" && "id" in item ? [{ id: item.id }] : [],
  );
  const grouped = new Set(
    found.flatMap((item) => (typeof item === "object" && "nodes" in item ? item.nodes : [])),
  );
  for (const item of theirs) {
    const key = keyOf(item);
    if (before.has(key) && (my.has(key) || same(item, before.get(key)))) continue;
    if (!before.has(key) && same(item, my.get(key))) continue;
    const own = typeof item === "object" && "nodes" in item;
    const kept = own ? { ...item, nodes: item.nodes?.filter((id) => !grouped.has(id)) } : item;
    if (!my.has(key)) found.push(kept as Item);
    else if (typeof kept === "object" && "id" in kept) {
      const id = freshMark(taken, kept.id.replace(/-\d+$/, ""));
      taken.push({ id });
      found.push({ ...kept, id } as Item);
    }
  }
  return found;
}

function mergedEdges(
  base: TopologyDocument | null,
  mine: TopologyDocument,
  theirs: TopologyDocument,
): DocumentEdge[] {
  const ids = (document: TopologyDocument | null) => new Set((document?.edges ?? []).map(edgeId));
  const [before, my, their] = [ids(base), ids(mine), ids(theirs)];
  const all = new Map([...mine.edges, ...theirs.edges].map((edge) => [edgeId(edge), edge]));
  return [...all]
    .filter(([id]) => (before.has(id) ? my.has(id) && their.has(id) : true))
    .map(([, edge]) => edge);
}
