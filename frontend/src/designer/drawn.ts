/** What is drawn: the document with fragments opened in place, and the frames around its nodes. */

import { type DocumentEdge, edgeId, type TopologyDocument } from "../graph/document";
import { type Folded, folded, NOTHING_FOLDED, OPENED } from "../graph/drawing";
import type { Drawn } from "../graph/opening";
import type { DesignerState } from "./store";

const NOT_OPENED = new Map<string, never>();
const NONE_OPENED: ReadonlySet<string> = new Set();

type Drawing = Pick<DesignerState, "document" | "catalog" | "folds" | "openings">;

/** A function of what is drawn, computed once per drawing. */
function oncePerDrawing<T>(how: (state: Drawing) => T): (state: Drawing) => T {
  let last: (Drawing & { found: T }) | null = null;
  return ({ catalog, document, folds, openings }) => {
    if (
      last?.document !== document ||
      last.catalog !== catalog ||
      last.folds !== folds ||
      last.openings !== openings
    ) {
      const now = { catalog, document, folds, openings };
      last = { ...now, found: how(now) };
    }
    return last.found;
  };
}

/** The document as it is drawn: with fragments opened in place. */
export const drawnOf = oncePerDrawing(
  ({ catalog, document, folds, openings }): Drawn =>
    catalog === null || openings === null
      ? {
          document,
          owners: NOT_OPENED,
          stands: NOT_OPENED,
          changeable: NOT_OPENED,
          opened: NONE_OPENED,
          settled: (places) => places,
          toDocument: (at) => at,
          toDrawing: (at) => at,
        }
      : openings.draw(document, catalog, folds, openings.ids),
);

/** The document as it is drawn, for reading only. */
export const drawing = (state: DesignerState): TopologyDocument => drawnOf(state).document;

/** The only selected edge: of the document, or a drawn one within a fragment. */
export function chosenDrawnEdge(state: DesignerState): DocumentEdge | undefined {
  const { edges } = state.selection;
  const find = ({ edges: all }: TopologyDocument) => all.find((each) => edgeId(each) === edges[0]);
  return edges.length === 1 ? (find(state.document) ?? find(drawing(state))) : undefined;
}

/** The frames of groups and opened fragments, and the nodes that they hide or stand for. */
export const foldedOf = oncePerDrawing((state): Folded => {
  const { catalog, folds } = state;
  if (catalog === null) return NOTHING_FOLDED;
  const { document, opened } = drawnOf(state);
  const found = folded(document, catalog, folds);
  if (opened.size === 0) return found;
  const hidden = new Map(found.hidden);
  for (const frame of found.frames) {
    const { id } = frame.group;
    if (id.startsWith(OPENED)) hidden.set(id.slice(OPENED.length), frame);
  }
  return { ...found, hidden };
});
