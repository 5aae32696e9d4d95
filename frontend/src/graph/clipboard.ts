/** Parts of a document as JSON text, for copying between topologies, tabs and editors. */

import { addBends, copiedBends } from "./bends";
import type { Catalog } from "./catalog";
import { freshId } from "./changes";
import {
  type DocumentNode,
  type Position,
  paramsOf,
  positionOf,
  readDocument,
  type TopologyDocument,
} from "./document";
import { addMarks, groupsOf, membersOf, noteBox, notesOf } from "./drawing";
import { isFragment } from "./fragments";
import { type Box, boundsOf, boxOf, GRID, overlap, snap } from "./geometry";

const FRAGMENT = "millrace.fragment/1";

type Fragment = Pick<TopologyDocument, "nodes" | "edges" | "drawing" | "fragments">;

/** The chosen nodes, the edges between them with their bends, the groups of which all nodes are chosen, and the chosen notes. */
export function cut(
  document: TopologyDocument,
  chosen: ReadonlySet<string>,
  notes: readonly string[] = [],
): Fragment {
  const groups = groupsOf(document).filter((group) => {
    const members = membersOf(document, group.id);
    return members.length > 0 && members.every((id) => chosen.has(id));
  });
  const written = notesOf(document).filter((note) => notes.includes(note.id));
  const own = (id: string) => (chosen.has(id) ? id : undefined);
  const bends = copiedBends(document.drawing, own, { x: 0, y: 0 });
  return {
    nodes: document.nodes.filter((node) => chosen.has(node.id)),
    edges: document.edges.filter((edge) => chosen.has(edge.source) && chosen.has(edge.target)),
    ...(groups.length + written.length + bends.length === 0
      ? {}
      : { drawing: { groups, notes: written, ...(bends.length > 0 ? { bends } : {}) } }),
    ...(document.fragments === undefined || !document.nodes.some(isFragment)
      ? {}
      : { fragments: document.fragments }),
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
    if (document === null || document.nodes.length + notesOf(document).length === 0) return null;
    const { drawing, edges, fragments, nodes } = document;
    return {
      nodes,
      edges,
      ...(drawing === undefined ? {} : { drawing }),
      ...(fragments === undefined ? {} : { fragments }),
    };
  } catch {
    return null;
  }
}

/** The offset at which no copied node or note covers one that is there; it is at or right below the wanted one. */
function freeOffset(
  document: TopologyDocument,
  catalog: Catalog,
  boxes: readonly Box[],
  wanted: Position,
): Position {
  const taken = [
    ...document.nodes.map((node) => boxOf(catalog, node)),
    ...notesOf(document).map(noteBox),
  ];
  const offset: { x: number; y: number } = snap(wanted);
  const covers = () =>
    boxes.some((box) => {
      const moved = { ...box, x: box.x + offset.x, y: box.y + offset.y };
      return taken.some((other) => overlap(moved, other, GRID));
    });
  for (let tries = 0; tries < 400 && covers(); tries += 1) offset.y += GRID * 2;
  return offset;
}

/**
 * Adds a fragment under new ids, with its middle at `at` or slightly beside the original, and where it covers nothing.
 * Stores are renamed where necessary, since two stores of the same name are an error.
 */
export function paste(
  document: TopologyDocument,
  catalog: Catalog,
  fragment: Fragment,
  at: Position | null,
): { document: TopologyDocument; ids: string[]; notes: string[] } {
  const taken = new Set(document.nodes.map((node) => node.id));
  const names = new Set(
    document.nodes.map((node) => paramsOf(node).name).filter((name) => typeof name === "string"),
  );
  const boxes = [
    ...fragment.nodes.map((node) => boxOf(catalog, node)),
    ...(fragment.drawing?.notes ?? []).map(noteBox),
  ];
  const bounds = boundsOf(boxes);
  const offset = freeOffset(
    document,
    catalog,
    boxes,
    at === null || bounds === null
      ? { x: 32, y: 32 }
      : { x: at.x - bounds.x - bounds.width / 2, y: at.y - bounds.y - bounds.height / 2 },
  );
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
  const idOf = (id: string) => renamed.get(id);
  const bends = copiedBends(fragment.drawing, idOf, offset);
  const used = nodes.some(isFragment) ? fragment.fragments : undefined;
  const joined = {
    ...document,
    ...(used === undefined ? {} : { fragments: { ...used, ...document.fragments } }),
    nodes: [...document.nodes, ...nodes],
    edges: [...document.edges, ...edges],
  };
  const marked = addMarks(joined, fragment.drawing, idOf, offset);
  return {
    document: addBends(marked.document, bends),
    ids: nodes.map((node) => node.id),
    notes: marked.notes,
  };
}
