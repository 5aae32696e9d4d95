/** Nodes from sources to sinks: each after its predecessors, otherwise from left to right as drawn. */

import { type DocumentNode, isStoreKind, positionOf, type TopologyDocument } from "./document";

export function inOrder(document: TopologyDocument): DocumentNode[] {
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const waiting = new Map(document.nodes.map((node) => [node.id, 0]));
  const children = new Map<string, string[]>();
  const stores = new Map<string, DocumentNode[]>();
  const hung = new Set<string>();
  for (const edge of document.edges) {
    const source = nodes.get(edge.source);
    if (source === undefined || !nodes.has(edge.target)) continue;
    if (isStoreKind(source.kind)) {
      if (hung.has(source.id)) continue;
      hung.add(source.id);
      stores.set(edge.target, [...(stores.get(edge.target) ?? []), source]);
      continue;
    }
    waiting.set(edge.target, (waiting.get(edge.target) ?? 0) + 1);
    children.set(edge.source, [...(children.get(edge.source) ?? []), edge.target]);
  }
  const before = (a: DocumentNode, b: DocumentNode) => {
    const one = positionOf(a);
    const other = positionOf(b);
    return one.x - other.x || one.y - other.y;
  };
  const ready = document.nodes
    .filter((node) => waiting.get(node.id) === 0 && !hung.has(node.id))
    .sort(before);
  const ordered: DocumentNode[] = [];
  const done = new Set<string>();
  for (let node = ready.shift(); node !== undefined; node = ready.shift()) {
    ordered.push(node, ...(stores.get(node.id) ?? []));
    done.add(node.id);
    for (const store of stores.get(node.id) ?? []) done.add(store.id);
    for (const child of children.get(node.id) ?? []) {
      const left = (waiting.get(child) ?? 1) - 1;
      waiting.set(child, left);
      const next = nodes.get(child);
      if (left === 0 && next !== undefined) ready.push(next);
    }
    ready.sort(before);
  }
  // The remaining nodes form cycles; they are listed as well.
  return [...ordered, ...document.nodes.filter((node) => !done.has(node.id)).sort(before)];
}
