/** Fragments that are opened in place: what is drawn for them, and where everything else is then. */

import { type Bend, placedBends, pointsOf, withBendsFor } from "./bends";
import type { Catalog } from "./catalog";
import {
  asObject,
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  emptyDocument,
  findNode,
  type Json,
  makeEdge,
  type Position,
  paramsOf,
  positionOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "./document";
import {
  drawnBox,
  type Folds,
  FRAME,
  folded,
  framed,
  type Group,
  groupOf,
  groupsOf,
  idWithin,
  moveNotes,
  type Note,
  noteBox,
  notesOf,
  OPENED,
  setGroups,
  setNotes,
} from "./drawing";
import { type Definition, definitionOf, INPUT, isFragment, OUTPUT } from "./fragments";
import { type Box, boundsOf, boxOf, GRID, NODE_WIDTH, STORE_DROP } from "./geometry";
import { isCode, mapped } from "./parameters";

const SEPARATOR = "--";
/** The limits of the compiler for what a document is expanded to. */
const MOST_NODES = 2_000;
const MOST_EDGES = 10_000;

/** What stands for a fragment node in the document around it. */
interface Inside {
  /** The id with which a node of the definition runs. */
  idOf(inner: string): string;
  /** Its inner nodes, under the ids with which they run; positions are those of the definition. */
  readonly nodes: readonly DocumentNode[];
  /** All edges of the document around it. */
  readonly edges: readonly DocumentEdge[];
  /** The edge of the document around it that a new edge stands for. */
  readonly stands: ReadonlyMap<DocumentEdge, DocumentEdge>;
  /** The bends of its edges: those of the definition, moved by a distance, between those of the document at its ports. */
  bends(by: Position, around: Pick<TopologyDocument, "drawing">): Bend[];
  /** Its groups and notes, with the ids of the definition; notes lie where the definition has them. */
  readonly marks: { readonly groups: readonly Group[]; readonly notes: readonly Note[] };
}

/** The edges that became one: one of the definition, and those of the document at the fragment's ports. */
interface Joined {
  readonly before?: DocumentEdge | undefined;
  readonly inner: DocumentEdge;
  readonly after?: DocumentEdge | undefined;
}

/** The nodes and edges of a fragment in place of its node; `change`: what the texts of parameters become. */
export function insideOf(
  document: TopologyDocument,
  node: DocumentNode,
  definition: Definition,
  change: (text: string) => Json,
): Inside {
  const { id } = node;
  const identities = asObject(paramsOf(node).identities);
  const idOf = (inner: string) =>
    typeof identities[inner] === "string" ? String(identities[inner]) : `${id}${SEPARATOR}${inner}`;
  const nodes = (definition.nodes as readonly DocumentNode[])
    .filter(({ kind }) => kind !== INPUT && kind !== OUTPUT)
    .map((each): DocumentNode => {
      const params = Object.fromEntries(
        Object.entries(paramsOf(each)).map(([name, value]) => [
          name,
          isCode(name) ? value : mapped(value, change),
        ]),
      );
      const nested = Object.entries(identities).filter(([path]) => path.startsWith(`${each.id}--`));
      if (isFragment(each) && nested.length > 0) {
        params.identities = Object.fromEntries(
          nested.map(([path, value]) => [path.slice(each.id.length + 2), value]),
        );
      }
      return { ...each, id: idOf(each.id), params };
    });
  const ports = new Map(definition.nodes.map((each) => [each.id, each.kind]));
  const own = definition.edges as readonly DocumentEdge[];
  const stands = new Map<DocumentEdge, DocumentEdge>();
  const joined = new Map<DocumentEdge, Joined>();
  /** The edges after a port in place of one that leads to it. */
  const after = (source: string, port: string, inner: DocumentEdge, before?: DocumentEdge) => {
    const outer =
      ports.get(inner.target) === OUTPUT
        ? document.edges.filter((each) => each.source === id && sourcePort(each) === inner.target)
        : [undefined];
    return outer.map((each) => {
      const target = each?.target ?? idOf(inner.target);
      const next = makeEdge(source, port, target, targetPort(each ?? inner));
      const whole = before ?? each;
      if (whole !== undefined) stands.set(next, whole);
      joined.set(next, { before, inner, after: each });
      return next;
    });
  };
  const edges = [
    ...document.edges.flatMap((edge) => {
      if (edge.source === id) return [];
      if (edge.target !== id) return [edge];
      return own
        .filter((each) => each.source === targetPort(edge))
        .flatMap((each) => after(edge.source, sourcePort(edge), each, edge));
    }),
    ...own
      .filter((edge) => ports.get(edge.source) !== INPUT)
      .flatMap((edge) => after(idOf(edge.source), sourcePort(edge), edge)),
  ];
  const drawn = (definition.nodes as readonly DocumentNode[]).every(
    ({ kind, position }) => kind === INPUT || kind === OUTPUT || position !== undefined,
  );
  const bends: Inside["bends"] = (by, around) => {
    const outer = pointsOf(around);
    // Without places of nodes, those of bends mean nothing.
    const inner = pointsOf(drawn ? (definition as Pick<TopologyDocument, "drawing">) : {});
    const at = (edge: DocumentEdge | undefined) =>
      (edge === undefined ? undefined : outer.get(edgeId(edge))) ?? [];
    return [...joined].flatMap(([edge, parts]) => {
      const own = inner.get(edgeId(parts.inner)) ?? [];
      const moved = own.map(({ x, y }) => ({ x: x + by.x, y: y + by.y }));
      const points = [...at(parts.before), ...moved, ...at(parts.after)];
      return points.length === 0 ? [] : [{ ...edge, points }];
    });
  };
  const { drawing } = definition as Pick<TopologyDocument, "drawing">;
  const marks = drawn
    ? { groups: drawing?.groups ?? [], notes: drawing?.notes ?? [] }
    : { groups: [], notes: [] };
  return { idOf, nodes, edges, stands, bends, marks };
}

/** The marks of a fragment as they are drawn in its frame: under ids of their own, moved. */
function marksWithin(inside: Inside, node: string, by: Position) {
  const own = new Set(inside.nodes.map((each) => each.id));
  const groups = inside.marks.groups.map((group): Group => {
    const { parent } = group;
    const outer = inside.marks.groups.some(({ id }) => id === parent) ? parent : undefined;
    return {
      ...group,
      id: idWithin(node, group.id),
      nodes: (group.nodes ?? []).map(inside.idOf).filter((id) => own.has(id)),
      parent: outer === undefined ? `${OPENED}${node}` : idWithin(node, outer),
    };
  });
  const notes = inside.marks.notes.map((note): Note => {
    const { x, y } = noteBox(note);
    return { ...note, id: idWithin(node, note.id), position: { x: x + by.x, y: y + by.y } };
  });
  return { groups, notes };
}

/** The texts of an opened fragment with the values of its parameters. */
function filling(node: DocumentNode, definition: Definition): (text: string) => Json {
  const given = asObject(paramsOf(node).arguments);
  const argument = (name: string): Json | undefined =>
    given[name] ?? (definition.parameters?.[name]?.default as Json | undefined);
  return (text) => {
    const whole = /^\$\{([^{}]*)\}$/.exec(text)?.[1];
    if (whole !== undefined) return argument(whole) ?? text;
    return text.replace(/\$\{([^{}]*)\}/g, (place, name: string) =>
      String(argument(name) ?? place),
    );
  };
}

/** Places for the nodes of a fragment that was never drawn: a column for each step from its inputs. */
function placed(nodes: readonly DocumentNode[], edges: readonly DocumentEdge[]): DocumentNode[] {
  if (nodes.every((node) => node.position !== undefined)) return [...nodes];
  const inner = new Set(nodes.map((node) => node.id));
  const links = edges.filter((edge) => inner.has(edge.source) && inner.has(edge.target));
  const columns = new Map<string, number>();
  for (let round = 0; round < nodes.length; round += 1) {
    let moved = false;
    for (const { source, target } of links) {
      const next = (columns.get(source) ?? 0) + 1;
      if (next > (columns.get(target) ?? 0) && next < nodes.length) {
        columns.set(target, next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const rows = new Map<number, number>();
  return nodes.map((node) => {
    const column = columns.get(node.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return {
      ...node,
      position: { x: column * (NODE_WIDTH + GRID * 8), y: row * (96 + STORE_DROP) },
    };
  });
}

/** The space that an opened fragment needs: what is to the right of its node, below and above it moves. */
interface Insertion {
  readonly right: number;
  readonly dx: number;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly bottom: number;
  readonly up: number;
  readonly down: number;
}

function moved(by: Insertion, box: Box): Box {
  const x = box.x >= by.right ? box.x + by.dx : box.x;
  const inColumn = box.x < by.to && box.x + box.width > by.from;
  const y = !inColumn
    ? box.y
    : box.y >= by.bottom
      ? box.y + by.down
      : box.y + box.height <= by.top
        ? box.y - by.up
        : box.y;
  return { ...box, x, y };
}

/** The box that moves to a place; the nearest one if none does, because the frame is there. */
function back(by: Insertion, box: Box): Box {
  const xs = [box.x, box.x - by.dx, by.right, by.right - GRID];
  const ys = [box.y, box.y - by.down, box.y + by.up];
  let best = box;
  let least = Number.POSITIVE_INFINITY;
  for (const x of xs) {
    for (const y of ys) {
      const there = moved(by, { ...box, x, y });
      const far = Math.abs(there.x - box.x) + Math.abs(there.y - box.y);
      if (far < least) [best, least] = [{ ...box, x, y }, far];
    }
  }
  return best;
}

/** A run among the bends of an edge: the others are those of a fragment. */
export interface Changeable {
  readonly from: number;
  readonly count: number;
}

/** The document as it is drawn. */
export interface Drawn {
  /** With the inner nodes and edges of opened fragments in place of their nodes, and a group for each. */
  readonly document: TopologyDocument;
  /** The fragment node of the document that contains a drawn node. */
  readonly owners: ReadonlyMap<string, string>;
  /** The edge of the document, by id, for which a drawn edge stands. */
  readonly stands: ReadonlyMap<string, DocumentEdge>;
  /** Which bends of a drawn edge are those of the edge for which it stands. */
  readonly changeable: ReadonlyMap<string, Changeable>;
  /** The opened fragment nodes, those within others among them. */
  readonly opened: ReadonlySet<string>;
  /** Places in the document for places in the drawing; a node within a fragment moves the fragment. */
  settled(places: ReadonlyMap<string, Position>): ReadonlyMap<string, Position>;
  /** The place in the document for a place in the drawing, and the other way around. */
  toDocument(at: Position): Position;
  toDrawing(at: Position): Position;
}

const point = ({ x, y }: Position): Box => ({ x, y, width: 0, height: 0 });
const place = ({ x, y }: Position): Position => ({ x, y });

/** Draws a document with fragments opened in place. Those that are missing or in a collapsed group stay closed. */
export function draw(
  document: TopologyDocument,
  catalog: Catalog,
  folds: Folds,
  wanted: readonly string[],
): Drawn {
  let now = document;
  const owners = new Map<string, string>();
  const stands = new Map<string, DocumentEdge>();
  const changeable = new Map<string, Changeable>();
  const opened = new Set<string>();
  const insertions: Insertion[] = [];
  const left = new Set(wanted);
  for (;;) {
    const next = now.nodes.find((node) => left.has(node.id) && isFragment(node));
    if (next === undefined) break;
    left.delete(next.id);
    const definition = definitionOf(document.fragments, next);
    if (definition === undefined) continue;
    const made = open(now, catalog, folds, next, definition);
    if (made === null) continue;
    const owner = owners.get(next.id) ?? next.id;
    for (const id of made.inner) owners.set(id, owner);
    for (const [edge, whole] of made.stands) {
      const own = stands.get(edgeId(whole)) ?? whole;
      if (!document.edges.includes(own)) continue;
      stands.set(edgeId(edge), own);
      const count = pointsOf(now).get(edgeId(whole))?.length ?? 0;
      const known = changeable.get(edgeId(whole)) ?? { from: 0, count };
      // The bends of an edge to the fragment come first, those of an edge from it last.
      const all = pointsOf(made.document).get(edgeId(edge))?.length ?? 0;
      const first = whole.target === next.id ? 0 : all - count;
      changeable.set(edgeId(edge), { from: first + known.from, count: known.count });
    }
    now = made.document;
    opened.add(next.id);
    insertions.push(made.by);
  }
  const edges = new Set(now.edges.map(edgeId));
  const before = new Map(now.nodes.map((node) => [node.id, positionOf(node)]));
  const boxes = new Map(
    [...document.nodes, ...now.nodes].map((node) => [node.id, boxOf(catalog, node)]),
  );
  const inDocument = (box: Box) => insertions.reduceRight((at, by) => back(by, at), box);
  return {
    document: now,
    owners,
    stands: new Map([...stands].filter(([id]) => edges.has(id))),
    changeable,
    opened,
    settled: (places) => {
      const found = new Map<string, Position>();
      for (const [id, at] of places) {
        const owner = owners.get(id);
        const old = before.get(id);
        const node = owner === undefined ? undefined : findNode(document, owner);
        if (owner === undefined) {
          found.set(id, place(inDocument({ ...point(at), ...sized(boxes.get(id)) })));
        } else if (node !== undefined && old !== undefined) {
          const { x, y } = positionOf(node);
          found.set(owner, { x: x + at.x - old.x, y: y + at.y - old.y });
        }
      }
      return found;
    },
    toDocument: (at) => place(inDocument(point(at))),
    toDrawing: (at) => place(insertions.reduce((box, by) => moved(by, box), point(at))),
  };
}

const sized = (box: Box | undefined) => ({ width: box?.width ?? 0, height: box?.height ?? 0 });

function open(
  document: TopologyDocument,
  catalog: Catalog,
  folds: Folds,
  node: DocumentNode,
  definition: Definition,
) {
  const { frames, hidden } = folded(document, catalog, folds);
  if (hidden.has(node.id)) return null;
  const inside = insideOf(document, node, definition, filling(node, definition));
  const taken = new Set(document.nodes.map((each) => each.id));
  if (inside.nodes.length === 0 || inside.nodes.some((each) => taken.has(each.id))) return null;
  if (taken.size + inside.nodes.length > MOST_NODES || inside.edges.length > MOST_EDGES)
    return null;
  const own = placed(inside.nodes, inside.edges);
  const bounds = boundsOf(partsOf(own, marksWithin(inside, node.id, NOWHERE), catalog, folds));
  if (bounds === null) return null;
  const closed = boxOf(catalog, node);
  // Records go on in one line through the first node that they enter.
  const locals = new Set(own.map((each) => each.id));
  const entered = inside.edges.find(
    (edge) => locals.has(edge.target) && !locals.has(edge.source) && targetPort(edge) !== "store",
  );
  const first = own.find((each) => each.id === entered?.target) ?? own[0];
  const by = {
    x: closed.x + FRAME - bounds.x,
    y: closed.y - (first === undefined ? bounds.y : positionOf(first).y),
  };
  const frame = framed({ ...bounds, x: bounds.x + by.x, y: bounds.y + by.y });
  const bottom = frame.y + frame.height;
  // Within a frame, all that is above or below the frame moves.
  const around = frames.find((frame) => frame.depth === 0 && frame.nodes.includes(node.id))?.box;
  const insertion: Insertion = {
    right: closed.x + closed.width,
    dx: Math.max(0, frame.width - closed.width),
    from: around?.x ?? closed.x,
    to: around === undefined ? closed.x + closed.width : around.x + around.width,
    top: closed.y,
    bottom: closed.y + closed.height,
    up: Math.max(0, closed.y - frame.y),
    down: Math.max(0, bottom - closed.y - closed.height),
  };
  const nodes = document.nodes.flatMap((each): DocumentNode[] => {
    if (each.id === node.id) {
      return own.map((inner) => {
        const { x, y } = positionOf(inner);
        const label = inner.label || localOf(inner.id, node.id);
        return { ...inner, label, position: { x: x + by.x, y: y + by.y } };
      });
    }
    const box = boxOf(catalog, each);
    const there = moved(insertion, box);
    return [there.x === box.x && there.y === box.y ? each : { ...each, position: place(there) }];
  });
  const notes = new Map(
    notesOf(document).map((note) => [
      note.id,
      place(moved(insertion, { ...point(note.position ?? { x: 0, y: 0 }), width: NODE_WIDTH })),
    ]),
  );
  const parent = groupOf(document, node.id)?.id;
  const groups = groupsOf(document).map((group) =>
    group.nodes?.includes(node.id) === true
      ? { ...group, nodes: group.nodes.filter((each) => each !== node.id) }
      : group,
  );
  const marks = marksWithin(inside, node.id, by);
  const grouped = new Set(marks.groups.flatMap((each) => each.nodes ?? []));
  const inner = own.map((each) => each.id);
  const group = {
    id: `${OPENED}${node.id}`,
    title: node.label || node.id,
    nodes: inner.filter((id) => !grouped.has(id)),
    ...(parent === undefined ? {} : { parent }),
  };
  const shifted = placedBends(moveNotes({ ...document, nodes, edges: inside.edges }, notes), (at) =>
    place(moved(insertion, point(at))),
  );
  const bends = inside.bends(by, shifted);
  const drawn = setGroups(withBendsFor(shifted, node.id, bends), [
    ...groups,
    group,
    ...marks.groups,
  ]);
  return {
    document:
      marks.notes.length === 0 ? drawn : setNotes(drawn, [...notesOf(drawn), ...marks.notes]),
    inner,
    stands: inside.stands,
    by: insertion,
  };
}

const NOWHERE: Position = { x: 0, y: 0 };

/** The boxes of everything that the frame of a fragment is around. */
function partsOf(
  own: readonly DocumentNode[],
  { groups, notes }: ReturnType<typeof marksWithin>,
  catalog: Catalog,
  folds: Folds,
): Box[] {
  const only = { ...emptyDocument(""), nodes: own, drawing: { groups: [...groups] } };
  const { frames, hidden } = folded(only, catalog, folds);
  return [
    ...own
      .filter((each) => !hidden.has(each.id))
      .map((each) => drawnBox(catalog, each, positionOf(each))),
    ...frames.map((frame) => frame.box),
    ...notes.map(noteBox),
  ];
}

const localOf = (id: string, node: string) =>
  id.startsWith(`${node}${SEPARATOR}`) ? id.slice(node.length + SEPARATOR.length) : id;

/** The document with the nodes of fragments in place of the fragment nodes that `which` chooses, those within them too. */
export function expanded(
  document: TopologyDocument,
  which: (node: DocumentNode) => boolean = () => true,
): TopologyDocument {
  let now = document;
  while (now.nodes.length <= MOST_NODES && now.edges.length <= MOST_EDGES) {
    const node = now.nodes.find(
      (each) =>
        isFragment(each) && definitionOf(document.fragments, each) !== undefined && which(each),
    );
    const definition = node && definitionOf(document.fragments, node);
    if (node === undefined || definition === undefined) break;
    const inside = insideOf(now, node, definition, filling(node, definition));
    const nodes = now.nodes.flatMap((each) => (each === node ? inside.nodes : [each]));
    now = { ...now, nodes, edges: inside.edges };
  }
  return now;
}

/** The edges between the nodes that run, by id: with all fragments opened. */
export const edgesThatRun = (document: TopologyDocument): ReadonlyMap<string, DocumentEdge> =>
  new Map(expanded(document).edges.map((edge) => [edgeId(edge), edge]));

/** Whether records can be pinned on an edge: the nodes at its ends are drawn as they run, or it is the document's. */
export function canBePinned(document: TopologyDocument, drawn: Drawn, edge: DocumentEdge): boolean {
  if (document.edges.includes(edge)) return true;
  return [edge.source, edge.target].every((id) => {
    const node = findNode(drawn.document, id);
    return node !== undefined && !isFragment(node);
  });
}
