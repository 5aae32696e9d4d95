/** Groups and notes: the part of a document that is drawn and never runs. */

import { withoutLostBends } from "./bends";
import type { Catalog } from "./catalog";
import {
  type DocumentEdge,
  type DocumentNode,
  isStoreKind,
  type Position,
  positionOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
  withDrawing,
} from "./document";
import {
  type Box,
  boundsOf,
  FOOTER_HEIGHT,
  freeBelow,
  GRID,
  NODE_HEIGHT,
  NODE_WIDTH,
  overlap,
  portTop,
  sizeOf,
  snap,
} from "./geometry";

type Drawing = NonNullable<TopologyDocument["drawing"]>;
export type Group = NonNullable<Drawing["groups"]>[number];
export type Note = NonNullable<Drawing["notes"]>[number];

export const NOTE_WIDTH = 240;
export const NOTE_HEIGHT = 112;
/** The distance between a frame and what it contains, and the height of its title. */
export const FRAME = 20;
export const HEAD = 32;

/** Which groups this person has opened or closed, where that differs from the document. */
export type Folds = Readonly<Record<string, boolean>>;

export const NO_FOLDS: Folds = {};

/** What the id of the group around an opened fragment begins with; the id of the fragment's node follows. */
export const OPENED = "fragment:";

/** The fragment node that is opened as this group; null for the document's own groups. */
export const fragmentOfGroup = ({ id }: Group): string | null =>
  id.startsWith(OPENED) ? id.slice(OPENED.length) : null;

const WITHIN = "within:";

/** The id under which a group or note of a fragment is drawn while the fragment's node is opened. */
export const idWithin = (node: string, mark: string) => `${WITHIN}${node}/${mark}`;

/** The opened fragment node in which a group or note is drawn; null for those of the document. */
export const fragmentAround = (id: string): string | null =>
  id.startsWith(WITHIN) ? id.slice(WITHIN.length, id.indexOf("/")) : null;

export function groupsOf(document: TopologyDocument): readonly Group[] {
  return document.drawing?.groups ?? [];
}

export function notesOf(document: TopologyDocument): readonly Note[] {
  return document.drawing?.notes ?? [];
}

export function noteBox(note: Note): Box {
  const { x, y } = note.position ?? { x: 0, y: 0 };
  return { x, y, width: note.width ?? NOTE_WIDTH, height: note.height ?? NOTE_HEIGHT };
}

export function isCollapsed(group: Group, folds: Folds): boolean {
  return folds[group.id] ?? group.collapsed ?? false;
}

/** The groups around a group, from the inside out; stops at a parent that is missing or contains itself. */
function around(groups: readonly Group[], group: Group): Group[] {
  const found: Group[] = [];
  for (let now: Group | undefined = group; now?.parent !== undefined; ) {
    const { parent }: Group = now;
    now = groups.find((each) => each.id === parent);
    if (now === undefined || now === group || found.includes(now)) break;
    found.push(now);
  }
  return found;
}

/** The box of a node with its footer. */
export function drawnBox(catalog: Catalog, node: DocumentNode, at: Position): Box {
  const { height, width } = sizeOf(catalog, node);
  return { ...at, width, height: height + (isStoreKind(node.kind) ? 0 : FOOTER_HEIGHT) };
}

/** The group that directly contains a node. */
export function groupOf(document: TopologyDocument, node: string): Group | undefined {
  return groupsOf(document).find((group) => group.nodes?.includes(node));
}

/** The nodes in a group and in the groups that it contains. */
export function membersOf(document: TopologyDocument, id: string): string[] {
  const groups = groupsOf(document);
  const existing = new Set(document.nodes.map((node) => node.id));
  return groups
    .filter((group) => group.id === id || around(groups, group).some((each) => each.id === id))
    .flatMap((group) => group.nodes ?? [])
    .filter((node) => existing.has(node));
}

/** The group whose members are exactly these nodes; the outermost one if several are. */
export function groupOfExactly(
  document: TopologyDocument,
  nodes: readonly string[],
): Group | undefined {
  if (nodes.length === 0) return undefined;
  const chosen = new Set(nodes);
  return groupsOf(document)
    .filter((group) => {
      const members = membersOf(document, group.id);
      return members.length === chosen.size && members.every((each) => chosen.has(each));
    })
    .sort((a, b) => around(groupsOf(document), a).length - around(groupsOf(document), b).length)[0];
}

/** A group as it is drawn. */
export interface Frame {
  readonly group: Group;
  readonly collapsed: boolean;
  /** The number of frames around it. */
  readonly depth: number;
  readonly box: Box;
  /** What it covers if it is not collapsed. */
  readonly area: Box;
  /** All nodes inside. */
  readonly nodes: readonly string[];
  /** Ports of a collapsed group, one for each port inside that a wire from outside reaches. */
  readonly ports: readonly GroupPort[];
}

export interface GroupPort {
  readonly side: "input" | "output" | "store";
  /** `node.port` of the port inside. */
  readonly id: string;
  readonly place: Position;
}

export interface Folded {
  readonly frames: readonly Frame[];
  /** The collapsed group that stands for each hidden node. */
  readonly hidden: ReadonlyMap<string, Frame>;
}

/** What a document without groups gives. */
export const NOTHING_FOLDED: Folded = { frames: [], hidden: new Map() };

/** The address of the port inside a group that an edge reaches. */
export const innerPort = (edge: DocumentEdge, end: "source" | "target") =>
  end === "source" ? `${edge.source}.${sourcePort(edge)}` : `${edge.target}.${targetPort(edge)}`;

/**
 * The frames of all groups that are drawn, outer ones first, and the nodes that collapsed ones hide. `at` gives
 * positions that differ from those of the document, while something is dragged.
 */
export function folded(
  document: TopologyDocument,
  catalog: Catalog,
  folds: Folds,
  at: (node: DocumentNode) => Position = positionOf,
): Folded {
  const groups = groupsOf(document);
  if (groups.length === 0) return NOTHING_FOLDED;
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const boxes = new Map<string, Pick<Frame, "box" | "area"> | null>();
  const boxesOfGroup = (group: Group): Pick<Frame, "box" | "area"> | null => {
    const known = boxes.get(group.id);
    if (known !== undefined) return known;
    boxes.set(group.id, null);
    const own = (group.nodes ?? []).flatMap((id) => {
      const node = nodes.get(id);
      if (node === undefined) return [];
      return [drawnBox(catalog, node, at(node))];
    });
    const inner = groups
      .filter((each) => each.parent === group.id)
      .flatMap((each) => boxesOfGroup(each)?.box ?? []);
    const fragment = fragmentOfGroup(group);
    // The notes of an opened fragment are inside of its frame; others may be anywhere.
    const notes =
      fragment === null
        ? []
        : notesOf(document).filter(({ id }) => fragmentAround(id) === fragment);
    const bounds = boundsOf([...own, ...inner, ...notes.map(noteBox)]);
    if (bounds === null) return null;
    const area = framed(bounds);
    const box = isCollapsed(group, folds)
      ? { x: bounds.x, y: bounds.y, ...sizeOfCollapsed(portsOf(document, group)) }
      : area;
    boxes.set(group.id, { box, area });
    return { box, area };
  };
  const hidden = new Map<string, Frame>();
  const frames: Frame[] = [];
  const depth = (group: Group) => around(groups, group).length;
  for (const group of [...groups].sort((a, b) => depth(a) - depth(b))) {
    const found = boxesOfGroup(group);
    if (found === null || around(groups, group).some((each) => isCollapsed(each, folds))) continue;
    const collapsed = isCollapsed(group, folds);
    const members = membersOf(document, group.id);
    const frame: Frame = {
      group,
      collapsed,
      depth: depth(group),
      ...found,
      nodes: members,
      ports: collapsed ? placed(portsOf(document, group), found.box) : [],
    };
    frames.push(frame);
    if (collapsed) for (const node of members) hidden.set(node, frame);
  }
  return { frames, hidden };
}

/** The box of a frame around nodes with these bounds. */
export function framed({ height, width, x, y }: Box): Box {
  return {
    x: x - FRAME,
    y: y - FRAME - HEAD,
    width: width + FRAME * 2,
    height: height + FRAME * 2 + HEAD,
  };
}

type Crossing = Pick<GroupPort, "side" | "id">;

/** The ports inside a group that edges from outside reach, in the order of the edges. */
function portsOf(document: TopologyDocument, group: Group): Crossing[] {
  const inside = new Set(membersOf(document, group.id));
  const found = new Map<string, Crossing>();
  const add = (side: Crossing["side"], id: string) => found.set(`${side} ${id}`, { side, id });
  for (const edge of document.edges) {
    if (inside.has(edge.source) && !inside.has(edge.target))
      add("output", innerPort(edge, "source"));
    if (!inside.has(edge.source) && inside.has(edge.target)) {
      add(targetPort(edge) === "store" ? "store" : "input", innerPort(edge, "target"));
    }
  }
  return [...found.values()];
}

function sizeOfCollapsed(ports: readonly Crossing[]) {
  const rows = (side: string) => ports.filter((port) => port.side === side).length;
  const most = Math.max(rows("input"), rows("output"));
  return { width: NODE_WIDTH, height: NODE_HEIGHT + Math.max(0, most - 3) * 16 };
}

function placed(ports: readonly Crossing[], box: Box): GroupPort[] {
  return ports.map((port) => {
    const row = ports.filter((each) => each.side === port.side);
    if (port.side === "store") {
      return { ...port, place: { x: box.width / 2, y: box.height } };
    }
    const y = portTop(row.indexOf(port), row.length, box.height);
    return { ...port, place: { x: port.side === "input" ? 0 : box.width, y } };
  });
}

// -- changes ---------------------------------------------------------------------------------------

export function setGroups(document: TopologyDocument, groups: readonly Group[]): TopologyDocument {
  return withDrawing(document, { groups, notes: notesOf(document) });
}

export function setNotes(document: TopologyDocument, notes: readonly Note[]): TopologyDocument {
  return withDrawing(document, { groups: groupsOf(document), notes });
}

/** An id for a group or note: `group-1`, `group-2`, … */
export function freshMark(taken: readonly { id: string }[], word: string): string {
  let number = 1;
  while (taken.some((each) => each.id === `${word}-${number}`)) number += 1;
  return `${word}-${number}`;
}

/** Removes nodes that no longer exist from their groups, groups that have become empty, and bends of lost edges. */
export function pruned(document: TopologyDocument): TopologyDocument {
  return withoutLostBends(withoutLostNodes(document));
}

function withoutLostNodes(document: TopologyDocument): TopologyDocument {
  const before = groupsOf(document);
  if (before.length === 0) return document;
  const existing = new Set(document.nodes.map((node) => node.id));
  let groups = before.map((group) =>
    group.nodes?.every((id) => existing.has(id)) === false
      ? { ...group, nodes: group.nodes.filter((id) => existing.has(id)) }
      : group,
  );
  for (;;) {
    const kept = groups.filter(
      (group) =>
        (group.nodes ?? []).length > 0 || groups.some((other) => other.parent === group.id),
    );
    if (kept.length === groups.length) break;
    groups = kept;
  }
  const same = groups.length === before.length && groups.every((each, at) => each === before[at]);
  return same ? document : setGroups(document, groups);
}

function withoutParent(group: Group, parent: string | undefined): Group {
  const { parent: _old, ...rest } = group;
  return parent === undefined ? rest : { ...rest, parent };
}

/** The innermost group that contains these nodes and others. */
export function groupAround(
  document: TopologyDocument,
  nodes: ReadonlySet<string>,
): Group | undefined {
  const groups = groupsOf(document);
  return groups
    .filter((group) => {
      const members = new Set(membersOf(document, group.id));
      return members.size > nodes.size && [...nodes].every((node) => members.has(node));
    })
    .sort((a, b) => around(groups, b).length - around(groups, a).length)[0];
}

/** Adds groups and notes of a drawing: with the new ids of their nodes, moved, within a group or none. */
export function addMarks(
  document: TopologyDocument,
  drawing: Pick<Drawing, "groups" | "notes"> | undefined,
  idOf: (node: string) => string | undefined,
  by: Position,
  within?: string,
): { document: TopologyDocument; notes: string[] } {
  const groups = [...groupsOf(document)];
  const ids = new Map<string, string>();
  for (const { id } of drawing?.groups ?? []) {
    const taken = [...groups, ...[...ids.values()].map((each) => ({ id: each }))];
    ids.set(id, freshMark(taken, "group"));
  }
  for (const group of drawing?.groups ?? []) {
    const { parent, ...rest } = group;
    const outer = (parent === undefined ? undefined : ids.get(parent)) ?? within;
    groups.push({
      ...rest,
      id: ids.get(group.id) ?? group.id,
      nodes: (group.nodes ?? []).flatMap((id) => idOf(id) ?? []),
      ...(outer === undefined ? {} : { parent: outer }),
    });
  }
  const notes = [...notesOf(document)];
  const fresh: string[] = [];
  for (const note of drawing?.notes ?? []) {
    const id = freshMark(notes, "note");
    const { x, y } = note.position ?? { x: 0, y: 0 };
    notes.push({ ...note, id, position: snap({ x: x + by.x, y: y + by.y }) });
    fresh.push(id);
  }
  return { document: withDrawing(document, { groups, notes }), notes: fresh };
}

/**
 * Puts nodes into a new group. It is inside the innermost group that contains all of them; groups whose nodes are all
 * among them come into it as a whole.
 */
export function makeGroup(
  document: TopologyDocument,
  nodes: readonly string[],
  title: string,
): { document: TopologyDocument; id: string } {
  const groups = groupsOf(document);
  const chosen = new Set(nodes);
  const id = freshMark(groups, "group");
  const inside = (group: Group) => {
    const members = membersOf(document, group.id);
    return members.length > 0 && members.every((node) => chosen.has(node));
  };
  const whole = groups.filter(inside);
  const parent = groupAround(document, chosen);
  const kept = new Set(whole.flatMap((group) => group.nodes ?? []));
  const direct = nodes.filter((node) => !kept.has(node));
  const others = groups.map((group) => {
    if (whole.includes(group)) {
      const inner = whole.some((each) => each.id === group.parent);
      return inner ? group : withoutParent(group, id);
    }
    return group.nodes?.some((node) => chosen.has(node)) === true
      ? { ...group, nodes: group.nodes.filter((node) => !chosen.has(node)) }
      : group;
  });
  const made = withoutParent({ id, title, nodes: direct }, parent?.id);
  return { document: pruned(setGroups(document, [...others, made])), id };
}

/** Dissolves a group: what it contains goes to the group around it. */
export function ungroup(document: TopologyDocument, id: string): TopologyDocument {
  const groups = groupsOf(document);
  const gone = groups.find((group) => group.id === id);
  if (gone === undefined) return document;
  const rest = groups
    .filter((group) => group !== gone)
    .map((group) => {
      if (group.parent === id) return withoutParent(group, gone.parent);
      if (group.id !== gone.parent) return group;
      return { ...group, nodes: [...(group.nodes ?? []), ...(gone.nodes ?? [])] };
    });
  return setGroups(document, rest);
}

export function setGroup(
  document: TopologyDocument,
  id: string,
  part: Partial<Pick<Group, "title" | "color" | "collapsed">>,
): TopologyDocument {
  return setGroups(
    document,
    groupsOf(document).map((group) => (group.id === id ? { ...group, ...part } : group)),
  );
}

/** Moves a node into a group, or out of all groups. */
export function setGroupOf(
  document: TopologyDocument,
  node: string,
  id: string | undefined,
): TopologyDocument {
  if (groupOf(document, node)?.id === id) return document;
  const groups = groupsOf(document).map((group) => {
    const nodes = (group.nodes ?? []).filter((each) => each !== node);
    if (group.id === id) return { ...group, nodes: [...nodes, node] };
    return nodes.length === (group.nodes ?? []).length ? group : { ...group, nodes };
  });
  return pruned(setGroups(document, groups));
}

/** A place for a note at or below the preferred one, where it covers neither nodes nor notes nor collapsed groups. */
export function freeNotePlace(
  document: TopologyDocument,
  catalog: Catalog,
  { frames, hidden }: Folded,
  preferred: Position,
): Position {
  const taken = [
    ...document.nodes
      .filter((node) => !hidden.has(node.id))
      .map((node) => drawnBox(catalog, node, positionOf(node))),
    ...notesOf(document).map(noteBox),
    ...frames.filter((frame) => frame.collapsed).map((frame) => frame.box),
  ];
  return freeBelow(taken, preferred, { width: NOTE_WIDTH, height: NOTE_HEIGHT });
}

/**
 * Expands a group. Nodes and notes to the right of its collapsed box that the frame would cover move to the right, those
 * below it down, all by the same distance.
 */
export function expandGroup(
  document: TopologyDocument,
  catalog: Catalog,
  id: string,
): TopologyDocument {
  const boxWhile = (collapsed: boolean) =>
    folded(document, catalog, { [id]: collapsed }).frames.find((each) => each.group.id === id)?.box;
  const expanded = setGroup(document, id, { collapsed: false });
  const before = boxWhile(true);
  const after = boxWhile(false);
  if (before === undefined || after === undefined) return expanded;
  const inside = new Set(membersOf(document, id));
  const others = [
    ...document.nodes
      .filter((node) => !inside.has(node.id))
      .map((node) => ({ id: node.id, box: drawnBox(catalog, node, positionOf(node)) })),
    ...notesOf(document).map((note) => ({ id: note.id, box: noteBox(note) })),
  ];
  const right = (box: Box) => box.x >= before.x + before.width;
  const below = (box: Box) => !right(box) && box.y >= before.y + before.height;
  const covered = others.filter(({ box }) => overlap(box, after, GRID));
  const needed = (sides: (box: Box) => boolean, axis: "x" | "y", end: number) => {
    const first = Math.min(...covered.flatMap(({ box }) => (sides(box) ? [box[axis]] : [])));
    return Number.isFinite(first) ? Math.ceil((end + GRID * 2 - first) / GRID) * GRID : 0;
  };
  const by = {
    x: needed(right, "x", after.x + after.width),
    y: needed(below, "y", after.y + after.height),
  };
  const places = new Map<string, Position>();
  for (const { id: other, box } of others) {
    if (by.x > 0 && right(box)) places.set(other, { x: box.x + by.x, y: box.y });
    else if (by.y > 0 && below(box)) places.set(other, { x: box.x, y: box.y + by.y });
  }
  const moved = expanded.nodes.map((node) => {
    const position = places.get(node.id);
    return position === undefined ? node : { ...node, position };
  });
  return moveNotes({ ...expanded, nodes: moved }, places);
}

export function addNote(
  document: TopologyDocument,
  at: Position,
  text = "",
): { document: TopologyDocument; id: string } {
  const notes = notesOf(document);
  const id = freshMark(notes, "note");
  return { document: setNotes(document, [...notes, { id, text, position: at }]), id };
}

export function setNote(
  document: TopologyDocument,
  id: string,
  part: Partial<Omit<Note, "id">>,
): TopologyDocument {
  return setNotes(
    document,
    notesOf(document).map((note) => (note.id === id ? { ...note, ...part } : note)),
  );
}

export function removeNotes(document: TopologyDocument, ids: readonly string[]): TopologyDocument {
  const kept = notesOf(document).filter((note) => !ids.includes(note.id));
  return kept.length === notesOf(document).length ? document : setNotes(document, kept);
}

export function moveNotes(
  document: TopologyDocument,
  positions: ReadonlyMap<string, Position>,
): TopologyDocument {
  const notes = notesOf(document);
  if (!notes.some((note) => positions.has(note.id))) return document;
  return setNotes(
    document,
    notes.map((note) => {
      const position = positions.get(note.id);
      return position === undefined ? note : { ...note, position };
    }),
  );
}
