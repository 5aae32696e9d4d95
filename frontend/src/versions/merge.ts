/** Compares and merges two documents with a common ancestor, node by node. */

import type { DocumentEdge, DocumentNode, TopologyDocument } from "../graph/document";
import { edgeId } from "../graph/document";
import { pruned } from "../graph/drawing";
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
 * Settings, topics, description, and groups and notes are `mine` if they differ from the ancestor, else `theirs`.
 */
export function merged(
  base: TopologyDocument | null,
  mine: TopologyDocument,
  theirs: TopologyDocument,
  choices: ReadonlyMap<string, Side>,
): TopologyDocument {
  const [myNodes, theirNodes] = [byId(mine), byId(theirs)];
  const differing = new Map(differences(base, mine, theirs).map((each) => [each.id, each]));
  const order = [...new Set([...theirNodes.keys(), ...myNodes.keys()])];
  const nodes: DocumentNode[] = [];
  for (const id of order) {
    const side = choices.get(id) ?? differing.get(id)?.proposed ?? "mine";
    const node = (side === "mine" ? myNodes : theirNodes).get(id);
    if (node !== undefined) nodes.push(node);
  }
  const kept = new Set(nodes.map((node) => node.id));
  const edges = mergedEdges(base, mine, theirs).filter(
    (edge) => kept.has(edge.source) && kept.has(edge.target),
  );
  const settled = <K extends "settings" | "topics" | "description" | "parameters" | "drawing">(
    field: K,
  ) =>
    canonical(mine[field] ?? null) === canonical(base?.[field] ?? null)
      ? theirs[field]
      : mine[field];
  const joined: TopologyDocument = { ...theirs, name: mine.name, nodes, edges };
  const rest = {
    settings: settled("settings"),
    topics: settled("topics"),
    description: settled("description"),
    parameters: settled("parameters"),
  };
  const drawing = settled("drawing");
  const { drawing: _theirs, fragments: _used, ...undrawn } = joined;
  const fragments = definitionsOf({ ...theirs.fragments, ...mine.fragments }, nodes);
  return pruned({
    ...undrawn,
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(drawing === undefined ? {} : { drawing }),
    ...(Object.keys(fragments).length === 0 ? {} : { fragments }),
  });
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
