/** Texts and documents that follow each other: a program's own lines, and the drawing's own data, are kept. */

import { diff } from "@codemirror/merge";
import type { SourceMapEntry } from "../api/types";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  type Json,
  type TopologyDocument,
} from "../graph/document";
import { pruned } from "../graph/drawing";
import { type Definitions, partsOf } from "../graph/fragments";
import { canonical } from "../versions/merge";

/** Lines [from, to) of one text that became lines [start, end) of another. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** The differing lines of two texts. The time is bounded: what is not found by then is one large difference. */
export function hunks(before: readonly string[], after: readonly string[]): Hunk[] {
  const known = new Map<string, string>();
  const encode = (lines: readonly string[]) =>
    lines
      .map((line) => {
        const found = known.get(line) ?? String.fromCharCode(known.size % 0xd800);
        known.set(line, found);
        return found;
      })
      .join("");
  const [a, b] = [encode(before), encode(after)];
  // More different lines than there are characters: everything differs.
  if (known.size > 0xd800) {
    return [{ from: 0, to: before.length, start: 0, end: after.length }];
  }
  return diff(a, b, { scanLimit: 500, timeout: 200 }).map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    start: fromB,
    end: toB,
  }));
}

const overlap = (a: Hunk, b: Hunk) => a.from < b.to && b.from < a.to;

interface FollowedText {
  readonly text: string;
  /** Whether lines that the person had changed were replaced. */
  readonly replaced: boolean;
}

/** `mine`, changed as `theirs` differs from `base`. Where both changed the same lines, those of `theirs` count. */
export function follow(base: string, mine: string, theirs: string): FollowedText {
  if (base === theirs || mine === theirs) return { text: mine, replaced: false };
  if (base === mine) return { text: theirs, replaced: false };
  const [before, own, other] = [base, mine, theirs].map((text) => text.split("\n")) as [
    string[],
    string[],
    string[],
  ];
  const changes = hunks(before, other);
  const typed = hunks(before, own);
  const kept = typed.filter((each) => !changes.some((change) => overlap(each, change)));
  const sides = [
    ...kept.map((hunk) => ({ hunk, lines: own, order: 0 })),
    ...changes.map((hunk) => ({ hunk, lines: other, order: 1 })),
  ].sort((a, b) => a.hunk.from - b.hunk.from || a.hunk.to - b.hunk.to || a.order - b.order);
  const result: string[] = [];
  let at = 0;
  for (const { hunk, lines } of sides) {
    result.push(...before.slice(at, hunk.from), ...lines.slice(hunk.start, hunk.end));
    at = Math.max(at, hunk.to);
  }
  result.push(...before.slice(at));
  return { text: result.join("\n"), replaced: kept.length < typed.length };
}

/** The source map of `text`, which has been typed over the program `base`. Lines of nodes that are gone are omitted. */
export function mapOf(
  map: readonly SourceMapEntry[],
  base: string,
  text: string,
): readonly SourceMapEntry[] {
  if (base === text) return map;
  const changes = hunks(base.split("\n"), text.split("\n"));
  const moved = (line: number, last: boolean): number => {
    let shift = 0;
    for (const { from, to, start, end } of changes) {
      if (line >= to && (line > from || to === from)) shift = end - to;
      else if (line >= from) return last ? end - 1 : start;
    }
    return line + shift;
  };
  return map
    .map((span) => ({
      ...span,
      start: moved(span.start - 1, false) + 1,
      end: moved(span.end - 1, true) + 1,
    }))
    .filter((span) => span.start <= span.end);
}

function changedFields<T extends object>(now: T, before: T, after: T): T {
  const result = { ...now } as Record<string, Json | undefined>;
  const [old, read] = [before, after] as Record<string, Json | undefined>[];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (canonical(old?.[key] ?? null) === canonical(read?.[key] ?? null)) continue;
    if (read?.[key] === undefined) delete result[key];
    else result[key] = read[key];
  }
  return result as T;
}

function changedNode(now: DocumentNode, before: DocumentNode, after: DocumentNode): DocumentNode {
  if (canonical(before) === canonical(after)) return now;
  const { params: _own, ...rest } = now;
  const { params: _old, ...oldRest } = before;
  const { params: _read, ...readRest } = after;
  return {
    ...changedFields(rest, oldRest, readRest),
    params: changedFields(now.params ?? {}, before.params ?? {}, after.params ?? {}),
  };
}

/** Items of `now` with what was added to, removed from and reordered between two readings. */
function changedList<T>(
  now: readonly T[],
  before: readonly T[],
  after: readonly T[],
  idOf: (item: T) => string,
): T[] {
  const had = new Set(before.map(idOf));
  const has = new Map(after.map((item, index) => [idOf(item), index]));
  const here = new Set(now.map(idOf));
  const kept = now.filter((item) => !had.has(idOf(item)) || has.has(idOf(item)));
  const added = after.filter((item) => !had.has(idOf(item)) && !here.has(idOf(item)));
  const result = [...kept, ...added];
  const common = (items: readonly T[]) =>
    items
      .map(idOf)
      .filter((id) => had.has(id) && has.has(id))
      .join("\n");
  if (common(before) === common(after)) return result;
  const place = (item: T) => has.get(idOf(item)) ?? after.length;
  return result.sort((a, b) => place(a) - place(b));
}

export interface FollowedDocument {
  readonly document: TopologyDocument;
  /** Nodes that have no place on the canvas yet. */
  readonly unplaced: readonly string[];
}

/**
 * The document on the canvas, changed as a program changed between two readings of it. What the program did not change
 * stays, and so does what programs do not contain: places, groups, notes. A node with another id and the same kind
 * takes the place of the one that it replaces.
 */
export function followReading(
  canvas: TopologyDocument,
  before: TopologyDocument,
  after: TopologyDocument,
): FollowedDocument {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const read = new Map(after.nodes.map((node) => [node.id, node]));
  const drawn = new Map(canvas.nodes.map((node) => [node.id, node]));
  const renamed = new Map<string, string>();
  const gone = before.nodes.filter((node) => !read.has(node.id));
  for (const node of after.nodes) {
    if (old.has(node.id) || drawn.has(node.id)) continue;
    const index = gone.findIndex((each) => each.kind === node.kind && drawn.has(each.id));
    const [from] = index < 0 ? [] : gone.splice(index, 1);
    if (from !== undefined) renamed.set(from.id, node.id);
  }
  const origin = new Map([...renamed].map(([from, to]) => [to, from]));
  const nodes = changedList(canvas.nodes, before.nodes, after.nodes, (node) => node.id).map(
    (node) => {
      const [was, is] = [old.get(node.id), read.get(node.id)];
      if (was !== undefined && is !== undefined) return changedNode(node, was, is);
      const position = drawn.get(origin.get(node.id) ?? "")?.position;
      return position === undefined ? node : { ...node, position };
    },
  );
  const known = new Set(nodes.map((node) => node.id));
  const edges = changedList<DocumentEdge>(canvas.edges, before.edges, after.edges, edgeId).filter(
    (edge) => known.has(edge.source) && known.has(edge.target),
  );
  const { nodes: _n, edges: _e, name: _name, drawing, fragments: _f, ...rest } = canvas;
  const strip = ({
    nodes: _nodes,
    edges: _edges,
    name: _own,
    drawing: _d,
    fragments: _fragments,
    ...others
  }: TopologyDocument) => others;
  const fragments = followFragments(canvas.fragments, before.fragments, after.fragments);
  const moved = drawing && {
    ...drawing,
    groups: drawing.groups?.map((group) => ({
      ...group,
      nodes: (group.nodes ?? []).map((id) => renamed.get(id) ?? id),
    })),
    bends: drawing.bends?.map((bend) => ({
      ...bend,
      source: renamed.get(bend.source) ?? bend.source,
      target: renamed.get(bend.target) ?? bend.target,
    })),
  };
  const document = pruned({
    ...changedFields(rest, strip(before), strip(after)),
    name: canvas.name,
    nodes,
    edges,
    ...(fragments === undefined ? {} : { fragments }),
    ...(moved === undefined ? {} : { drawing: JSON.parse(JSON.stringify(moved)) }),
  } as TopologyDocument);
  return {
    document,
    unplaced: nodes.flatMap((node) =>
      node.position === undefined && !drawn.has(node.id) ? [node.id] : [],
    ),
  };
}

/** The definitions of the canvas, changed as those of a program. A new version keeps the places of the one before. */
function followFragments(
  now: Definitions | undefined,
  before: Definitions | undefined,
  after: Definitions | undefined,
): Definitions | undefined {
  if (canonical(before ?? {}) === canonical(after ?? {})) return now;
  const found = { ...now };
  for (const reference of Object.keys(before ?? {})) {
    if (after?.[reference] === undefined) delete found[reference];
  }
  for (const [reference, read] of Object.entries(after ?? {})) {
    const { name } = partsOf(reference);
    const origin = before?.[reference]
      ? reference
      : Object.keys(before ?? {}).find((each) => partsOf(each).name === name);
    const [drawn, old] = [now?.[origin ?? ""], before?.[origin ?? ""]];
    if (drawn === undefined || old === undefined) {
      found[reference] = read;
    } else if (origin !== reference || canonical(old) !== canonical(read)) {
      const [a, b, c] = [drawn, old, read].map((each) => ({ name: "", ...each }));
      const { name: _name, ...definition } = followReading(
        a as TopologyDocument,
        b as TopologyDocument,
        c as TopologyDocument,
      ).document;
      found[reference] = definition as typeof read;
    }
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/**
 * A node that a program changed and that is not on the canvas: it is of a fragment whose nodes are written out, because
 * no function can express it.
 */
export function withoutPlace(
  canvas: TopologyDocument,
  before: TopologyDocument,
  after: TopologyDocument,
): string | undefined {
  if (canvas.fragments === undefined) return undefined;
  const drawn = new Set(canvas.nodes.map((node) => node.id));
  const parts = ({ nodes, edges }: TopologyDocument) =>
    new Map<string, readonly [unknown, readonly string[]]>([
      ...nodes.map((node) => [node.id, [node, [node.id]]] as const),
      ...edges.map((edge) => [edgeId(edge), [edge, [edge.source, edge.target]]] as const),
    ]);
  const [old, read] = [parts(before), parts(after)];
  const written = new Set(before.nodes.map((node) => node.id).filter((id) => !drawn.has(id)));
  for (const [id, [, nodes]] of [...old, ...read]) {
    const same = canonical(old.get(id)?.[0] ?? null) === canonical(read.get(id)?.[0] ?? null);
    const found = nodes.find((each) => written.has(each));
    if (!same && found !== undefined) return found;
  }
  return undefined;
}

/** Whether two readings have the same nodes, edges and settings, in any order. */
export function sameMeaning(one: TopologyDocument, other: TopologyDocument): boolean {
  const sorted = ({ name: _name, drawing: _drawing, nodes, edges, ...rest }: TopologyDocument) =>
    canonical({
      ...rest,
      nodes: nodes.map((node) => canonical(node)).sort(),
      edges: edges.map((edge) => canonical(edge)).sort(),
    });
  return sorted(one) === sorted(other);
}
