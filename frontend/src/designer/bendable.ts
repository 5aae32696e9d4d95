/** The bends of a wire that can be changed: those of the edge of the document for which it stands. */

import { pointsOf } from "../graph/bends";
import { type DocumentEdge, edgeId, type Position } from "../graph/document";
import type { Drawn } from "../graph/opening";
import { dividedBy } from "../graph/routing";
import { drawnOf, foldedOf } from "./drawn";
import type { DesignerState } from "./store";

type Points = readonly Position[];

export interface Bendable {
  /** The drawn edge: the first one of those that stand for the same edge of the document. */
  readonly edge: DocumentEdge;
  /** The points of its wire. From `first` on, `count` of them can be changed; the others are those of a fragment. */
  readonly points: Points;
  readonly first: number;
  readonly count: number;
  /** Points that can't be seen, because they are inside of collapsed groups at the ends. */
  readonly hidden: readonly [Points, Points];
}

function standingFor({ document, stands }: Drawn, id: string): DocumentEdge | undefined {
  return document.edges.find((edge) => edgeId(stands.get(edgeId(edge)) ?? edge) === id);
}

/** What can be changed of the bends of an edge of the document; null if nothing of the edge is drawn. */
export function bendableOf(state: DesignerState, own: DocumentEdge): Bendable | null {
  const drawn = drawnOf(state);
  const edge = standingFor(drawn, edgeId(own));
  if (edge === undefined) return null;
  const all = pointsOf(drawn.document).get(edgeId(edge)) ?? [];
  const { between, inSource } = dividedBy(edge, all, foldedOf(state).hidden);
  const { count, from } = drawn.changeable.get(edgeId(edge)) ?? { from: 0, count: all.length };
  const start = inSource.length;
  const end = start + between.length;
  const seen = (index: number) => Math.min(Math.max(index, start), end) - start;
  return {
    edge,
    points: between,
    first: seen(from),
    count: seen(from + count) - seen(from),
    hidden: [
      all.slice(from, Math.min(from + count, start)),
      all.slice(Math.max(from, end), from + count),
    ],
  };
}

/** The points in the document of an edge whose wire goes through other points. */
export function ledThrough(
  { count, first, hidden, points }: Bendable,
  now: Points,
  toDocument: Drawn["toDocument"],
): Position[] {
  const last = first + count + now.length - points.length;
  return [...hidden[0], ...now.slice(first, last), ...hidden[1]].map(toDocument);
}
