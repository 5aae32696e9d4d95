/** Parts of a document as JSON text, for copying between topologies, tabs and editors. */

import type { Catalog } from "./catalog";
import { freshId } from "./changes";
import {
  type DocumentEdge,
  type DocumentNode,
  type Position,
  paramsOf,
  positionOf,
  readDocument,
  type TopologyDocument,
} from "./document";
import { boundsOf, boxOf, snap } from "./geometry";

const FRAGMENT = "millrace.fragment/1";

interface Fragment {
  readonly nodes: readonly DocumentNode[];
  readonly edges: readonly DocumentEdge[];
}

/** The chosen nodes and the edges between them. */
export function cut(document: TopologyDocument, chosen: ReadonlySet<string>): Fragment {
  return {
    nodes: document.nodes.filter((node) => chosen.has(node.id)),
    edges: document.edges.filter((edge) => chosen.has(edge.source) && chosen.has(edge.target)),
  };
}

export function writeFragment(fragment: Fragment): string {
  return JSON.stringify({ format: FRAGMENT, ...fragment }, null, 2);
}

/** Reads a fragment from text: a copied fragment or a whole document. Null if the text is neither. */
export function readFragment(text: string): Fragment | null {
  try {
    const value: unknown = JSON.parse(text);
    const document = readDocument(value);
    if (document === null || document.nodes.length === 0) return null;
    return { nodes: document.nodes, edges: document.edges };
  } catch {
    return null;
  }
}

/**
 * Adds a fragment under new ids, with its middle at `at` or slightly beside the original. Stores are renamed where
 * necessary, since two stores of the same name are an error.
 */
export function paste(
  document: TopologyDocument,
  catalog: Catalog,
  fragment: Fragment,
  at: Position | null,
): { document: TopologyDocument; ids: string[] } {
  const taken = new Set(document.nodes.map((node) => node.id));
  const names = new Set(
    document.nodes.map((node) => paramsOf(node).name).filter((name) => typeof name === "string"),
  );
  const bounds = boundsOf(fragment.nodes.map((node) => boxOf(catalog, node)));
  const offset =
    at === null || bounds === null
      ? { x: 32, y: 32 }
      : { x: at.x - bounds.x - bounds.width / 2, y: at.y - bounds.y - bounds.height / 2 };
  const renamed = new Map<string, string>();
  const nodes = fragment.nodes.map((node) => {
    const id = freshId(taken, node.id.replace(/-\d+$/, ""));
    taken.add(id);
    renamed.set(node.id, id);
    const position = positionOf(node);
    const copy: DocumentNode = {
      ...node,
      id,
      position: snap({ x: position.x + offset.x, y: position.y + offset.y }),
    };
    const name = paramsOf(node).name;
    if (!node.kind.startsWith("store.") || typeof name !== "string" || !names.has(name))
      return copy;
    const fresh = freshId(names as Set<string>, name.replace(/-\d+$/, ""));
    names.add(fresh);
    return { ...copy, params: { ...paramsOf(node), name: fresh } };
  });
  const edges = fragment.edges.flatMap((edge) => {
    const source = renamed.get(edge.source);
    const target = renamed.get(edge.target);
    return source === undefined || target === undefined ? [] : [{ ...edge, source, target }];
  });
  return {
    document: {
      ...document,
      nodes: [...document.nodes, ...nodes],
      edges: [...document.edges, ...edges],
    },
    ids: nodes.map((node) => node.id),
  };
}
