/** Records on edges, muted nodes and doubles: the part of a document that only simulations and tests use. */

import {
  asObject,
  type DocumentEdge,
  edgeId,
  isStoreKind,
  makeEdge,
  paramsOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
  withDrawing,
} from "./document";
import { isFragment } from "./fragments";

type Drawing = NonNullable<TopologyDocument["drawing"]>;
export type Pin = NonNullable<Drawing["pins"]>[number];
export type PinnedRecord = Pin["records"][number];
export type Double = NonNullable<Drawing["doubles"]>[number];
export type DoubleRow = NonNullable<Double["rows"]>[number];

const NONE: readonly never[] = [];

/** The pins on edges that exist, and those within fragments, whose edges the document does not list. */
export function pinsOf(document: TopologyDocument): readonly Pin[] {
  const pins = document.drawing?.pins ?? NONE;
  if (pins.length === 0) return NONE;
  const ids = new Set(document.edges.map(edgeId));
  const within = withinFragments(document);
  return pins.filter((pin) => ids.has(edgeId(pin)) || within(pin.source) || within(pin.target));
}

/** Whether an id can be that of a node within one of the document's fragments. */
function withinFragments(document: TopologyDocument): (id: string) => boolean {
  const own = new Set(document.nodes.map((node) => node.id));
  const fragments = document.nodes.filter(isFragment);
  const given = new Set(
    fragments.flatMap((node) => Object.values(asObject(paramsOf(node).identities))),
  );
  return (id) =>
    !own.has(id) && (given.has(id) || fragments.some((node) => id.startsWith(`${node.id}--`)));
}

export function pinOn(document: TopologyDocument, edge: string): Pin | undefined {
  return document.drawing?.pins?.find((pin) => edgeId(pin) === edge);
}

/** The muted nodes that exist, those within fragments among them. */
export function mutedOf(document: TopologyDocument): readonly string[] {
  const muted = document.drawing?.muted ?? NONE;
  if (muted.length === 0) return NONE;
  const within = withinFragments(document);
  return muted.filter((id) => within(id) || document.nodes.some((node) => node.id === id));
}

/** The doubles of nodes that exist, those within fragments among them. */
export function doublesOf(document: TopologyDocument): readonly Double[] {
  const doubles = document.drawing?.doubles ?? NONE;
  if (doubles.length === 0) return NONE;
  const within = withinFragments(document);
  return doubles.filter(
    ({ node }) => within(node) || document.nodes.some((each) => each.id === node),
  );
}

export function doubleOf(document: TopologyDocument, node: string): Double | undefined {
  return document.drawing?.doubles?.find((double) => double.node === node);
}

/** Lets a table of answers stand for a node in place of the one that it has; null: the node itself runs. */
export function setDouble(
  document: TopologyDocument,
  node: string,
  double: Omit<Double, "node"> | null,
): TopologyDocument {
  const others = doublesOf(document).filter((each) => each.node !== node);
  const doubles = double === null ? others : [...others, { ...double, node }];
  return withDrawing(document, { doubles });
}

/** Pins records on an edge in place of those that it has; null removes the pin. */
export function setPin(
  document: TopologyDocument,
  edge: DocumentEdge,
  records: readonly PinnedRecord[] | null,
): TopologyDocument {
  const others = pinsOf(document).filter((pin) => edgeId(pin) !== edgeId(edge));
  const ends = makeEdge(edge.source, sourcePort(edge), edge.target, targetPort(edge));
  const pins = records === null ? others : [...others, { ...ends, records }];
  return withDrawing(document, { pins, muted: mutedOf(document) });
}

/** Mutes the nodes of a drawing, or unmutes them if all of them are muted. Stores cannot be muted. */
export function toggleMuted(
  document: TopologyDocument,
  ids: readonly string[],
  drawn: TopologyDocument = document,
): TopologyDocument {
  const before = mutedOf(document);
  const chosen = mutable(drawn, ids);
  const kept = before.filter((id) => !chosen.includes(id));
  const all = chosen.every((id) => before.includes(id));
  const muted = all ? kept : [...kept, ...chosen];
  return withDrawing(document, { pins: pinsOf(document), muted });
}

/** The nodes among these that can be muted. */
export function mutable(document: TopologyDocument, ids: readonly string[]): readonly string[] {
  return document.nodes
    .filter((node) => ids.includes(node.id) && !isStoreKind(node.kind) && !isFragment(node))
    .map((node) => node.id);
}
