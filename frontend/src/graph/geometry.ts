/** Sizes of nodes and ports, known before they are drawn, because layout, areas and hit tests need them. */

import { type Catalog, type NodePort, portsOf } from "./catalog";
import {
  type DocumentNode,
  isStoreKind,
  type Position,
  positionOf,
  type TopologyDocument,
} from "./document";

export const GRID = 8;
export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 56;
/** The strip of live figures. It hangs below a node, so that nodes do not move when it appears. */
export const FOOTER_HEIGHT = 22;
export const STORE_WIDTH = 112;
export const STORE_HEIGHT = 48;
/** The distance of a store below its processor. */
export const STORE_DROP = 40;
/** Ports sit on lines of the grid, so that wires between snapped nodes are straight. */
const PORT_PITCH = 16;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Box extends Position, Size {}

export function sizeOfPorts(ports: readonly NodePort[]): Size {
  const inputs = ports.filter((port) => port.side === "input").length;
  const outputs = ports.filter((port) => port.side === "output").length;
  const rows = Math.max(inputs, outputs);
  const height = NODE_HEIGHT + Math.max(0, rows - 3) * PORT_PITCH;
  return { width: NODE_WIDTH, height };
}

export function sizeOf(catalog: Catalog, node: DocumentNode): Size {
  if (isStoreKind(node.kind)) return { width: STORE_WIDTH, height: STORE_HEIGHT };
  return sizeOfPorts(portsOf(catalog, node));
}

/** Distance of a port from the top of its node. */
export function portTop(index: number, count: number, height: number): number {
  if (count === 1) return NODE_HEIGHT / 2;
  return height / 2 + (index - (count - 1) / 2) * PORT_PITCH;
}

export function snap(position: Position): Position {
  return { x: Math.round(position.x / GRID) * GRID, y: Math.round(position.y / GRID) * GRID };
}

export function boxOf(catalog: Catalog, node: DocumentNode): Box {
  return { ...positionOf(node), ...sizeOf(catalog, node) };
}

/** The smallest box that contains all boxes; null if there are none. */
export function boundsOf(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null;
  const left = Math.min(...boxes.map((box) => box.x));
  const top = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function overlap(one: Box, other: Box, margin: number): boolean {
  return (
    one.x < other.x + other.width + margin &&
    other.x < one.x + one.width + margin &&
    one.y < other.y + other.height + margin &&
    other.y < one.y + one.height + margin
  );
}

/** The first place at or below the preferred one that keeps a distance from the boxes. */
export function freeBelow(taken: readonly Box[], preferred: Position, size: Size): Position {
  const place = { ...snap(preferred) };
  for (let tries = 0; tries < 200; tries += 1) {
    const box = { ...place, ...size };
    if (!taken.some((other) => overlap(box, other, GRID * 2))) break;
    place.y += GRID * 3;
  }
  return place;
}

/** The first free place at or below the preferred one, so that a new node does not cover others. */
export function freePlace(
  document: TopologyDocument,
  catalog: Catalog,
  preferred: Position,
  size: Size,
): Position {
  return freeBelow(
    document.nodes.map((node) => boxOf(catalog, node)),
    preferred,
    size,
  );
}

/** The place for a new node next to an existing one: to its right, or below it for a store. */
export function placeBeside(
  document: TopologyDocument,
  catalog: Catalog,
  beside: DocumentNode,
  kind: string,
): Position {
  const box = boxOf(catalog, beside);
  if (isStoreKind(kind)) {
    const preferred = {
      x: box.x + (box.width - STORE_WIDTH) / 2,
      y: box.y + box.height + STORE_DROP,
    };
    return freePlace(document, catalog, preferred, { width: STORE_WIDTH, height: STORE_HEIGHT });
  }
  const preferred = { x: box.x + box.width + GRID * 8, y: box.y };
  return freePlace(document, catalog, preferred, { width: NODE_WIDTH, height: NODE_HEIGHT });
}

/**
 * Places for nodes that have none: to the right of a node that feeds them, else to the left of one that they feed, else
 * below the drawing. None covers another node.
 */
export function placesOf(
  document: TopologyDocument,
  catalog: Catalog,
  fresh: readonly string[],
): Map<string, Position> {
  const places = new Map<string, Position>();
  const left = new Set(fresh);
  const boxes = new Map<string, Box>();
  const [before, after] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const node of document.nodes)
    if (!left.has(node.id)) boxes.set(node.id, boxOf(catalog, node));
  for (const { source, target } of document.edges) {
    before.set(target, [...(before.get(target) ?? []), source]);
    after.set(source, [...(after.get(source) ?? []), target]);
  }
  const kinds = new Map(document.nodes.map((node) => [node.id, node]));
  const placed = (ids: readonly string[] = []) => ids.find((id) => boxes.has(id));
  const waits = (id: string) => (before.get(id) ?? []).some((each) => left.has(each));
  while (left.size > 0) {
    const ids = [...left];
    const id =
      ids.find((each) => placed(before.get(each)) !== undefined) ??
      ids.find((each) => !waits(each)) ??
      (ids[0] as string);
    left.delete(id);
    const node = kinds.get(id);
    if (node === undefined) continue;
    const size = sizeOf(catalog, node);
    const from = boxes.get(placed(before.get(id)) ?? "");
    const to = boxes.get(placed(after.get(id)) ?? "");
    const all = boundsOf([...boxes.values()]);
    const preferred =
      from !== undefined
        ? { x: from.x + from.width + GRID * 8, y: from.y }
        : to !== undefined && isStoreKind(node.kind)
          ? { x: to.x + (to.width - size.width) / 2, y: to.y + to.height + STORE_DROP }
          : to !== undefined
            ? { x: to.x - size.width - GRID * 8, y: to.y }
            : { x: all?.x ?? 0, y: all === null ? 0 : all.y + all.height + GRID * 6 };
    const place = freeBelow([...boxes.values()], preferred, size);
    boxes.set(id, { ...place, ...size });
    places.set(id, place);
  }
  return places;
}
