/** The node that an arrow key leads to: along edges to the left and right, to the nearest neighbor up and down. */

import type { Catalog } from "./catalog";
import { type DocumentNode, findNode, isStoreKind, type TopologyDocument } from "./document";
import { type Box, boxOf } from "./geometry";

export type Direction = "left" | "right" | "up" | "down";

function middle(box: Box) {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Everything fed by these nodes, or everything that feeds them; themselves included. */
export function reachable(
  document: TopologyDocument,
  start: readonly string[],
  direction: "up" | "down",
): string[] {
  const found = new Set(start);
  const open = [...start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of document.edges) {
      const [here, there] =
        direction === "down" ? [edge.source, edge.target] : [edge.target, edge.source];
      if (here !== node || found.has(there)) continue;
      found.add(there);
      open.push(there);
    }
  }
  return [...found];
}

export function neighbor(
  document: TopologyDocument,
  catalog: Catalog,
  from: string,
  direction: Direction,
): string | null {
  const node = findNode(document, from);
  if (node === undefined) return null;
  const here = middle(boxOf(catalog, node));
  const distance = (other: DocumentNode) => {
    const there = middle(boxOf(catalog, other));
    return { dx: there.x - here.x, dy: there.y - here.y };
  };
  const linked = document.edges
    .filter((edge) => (direction === "right" ? edge.source === from : edge.target === from))
    .map((edge) => findNode(document, direction === "right" ? edge.target : edge.source))
    .filter((other) => other !== undefined);
  let candidates: DocumentNode[];
  if (direction === "left" || direction === "right") {
    const records = linked.filter((other) => !isStoreKind(other.kind) && !isStoreKind(node.kind));
    candidates = records;
    if (candidates.length === 0) {
      candidates = document.nodes.filter((other) => {
        const { dx } = distance(other);
        return other.id !== from && (direction === "right" ? dx > 8 : dx < -8);
      });
    }
  } else {
    candidates = document.nodes.filter((other) => {
      const { dy } = distance(other);
      return other.id !== from && (direction === "down" ? dy > 8 : dy < -8);
    });
  }
  const sideways = direction === "left" || direction === "right";
  const cost = (other: DocumentNode) => {
    const { dx, dy } = distance(other);
    return sideways ? Math.abs(dx) + Math.abs(dy) * 2 : Math.abs(dy) + Math.abs(dx) * 2;
  };
  return candidates.sort((a, b) => cost(a) - cost(b))[0]?.id ?? null;
}
