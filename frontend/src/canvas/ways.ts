/** The ways of wires as they are drawn, computed once for each drawing. */

import { drawing, foldedOf } from "../designer/drawn";
import type { DesignerState } from "../designer/store";
import { type Divided, pointsOf } from "../graph/bends";
import { type DocumentEdge, edgeId, type Position, type TopologyDocument } from "../graph/document";
import type { Folded } from "../graph/drawing";
import { type Box, boundsOf, boxOf } from "../graph/geometry";
import { dividedBy, ways } from "../graph/routing";

let routed: {
  document: TopologyDocument;
  folds: Folded;
  all: ReturnType<typeof ways>;
} | null = null;

/** The corners of a wire; null if it goes back. All wires of a document are routed at once. */
export function wayOf(state: DesignerState, edge: string): readonly Position[] | null {
  const { catalog } = state;
  if (catalog === null) return null;
  const document = drawing(state);
  const folds = foldedOf(state);
  if (routed?.document !== document || routed.folds !== folds) {
    routed = { document, folds, all: ways(document, catalog, folds) };
  }
  return routed.all.get(edge) ?? null;
}

const NO_BENDS: Divided = { inSource: [], between: [], inTarget: [] };
const known = new WeakMap<readonly Position[], Divided & { hidden: Folded["hidden"] }>();

/** The bends of a wire: the same object while they and what collapsed groups hide of them are the same. */
export function bendsOf(state: DesignerState, edge: DocumentEdge | undefined): Divided {
  const points = edge && pointsOf(drawing(state)).get(edgeId(edge));
  if (edge === undefined || points === undefined) return NO_BENDS;
  const { hidden } = foldedOf(state);
  const before = known.get(points);
  if (before?.hidden === hidden) return before;
  const now = dividedBy(edge, points, hidden);
  const same = (part: keyof Divided) => before?.[part].length === now[part].length;
  if (before !== undefined && same("inSource") && same("inTarget")) {
    before.hidden = hidden;
    return before;
  }
  const made = { ...now, hidden };
  known.set(points, made);
  return made;
}

/** A bent wire that reaches beyond the box around its two nodes. */
export interface Detour {
  readonly edge: string;
  readonly way: readonly Position[];
  /** The box around its nodes, and that around its corners. */
  readonly nodes: Box;
  readonly corners: Box;
}

/** The bent wires that may be in view while their nodes, and the box around these, are not. */
export function detoursOf(state: DesignerState): readonly Detour[] {
  const { catalog } = state;
  const document = drawing(state);
  const { hidden } = foldedOf(state);
  if (catalog === null || document.drawing?.bends === undefined) return [];
  const nodes = new Map(document.nodes.map((node) => [node.id, node]));
  const boxAt = (id: string) => {
    const node = nodes.get(id);
    return hidden.get(id)?.box ?? (node === undefined ? undefined : boxOf(catalog, node));
  };
  return document.drawing.bends.flatMap((bend) => {
    const edge = edgeId(bend);
    const way = wayOf(state, edge);
    const [from, to] = [boxAt(bend.source), boxAt(bend.target)];
    if (way === null || from === undefined || to === undefined) return [];
    const around = boundsOf([from, to]);
    const corners = boundsOf(way.map((corner) => ({ ...corner, width: 0, height: 0 })));
    if (around === null || corners === null || contains(around, corners)) return [];
    return [{ edge, way, nodes: around, corners }];
  });
}

function contains(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** Whether a wire is in view while the box around its nodes is not, by which React Flow decides what is drawn. */
export function isFar({ corners, nodes }: Detour, view: Box): boolean {
  const seen = (box: Box) =>
    box.x < view.x + view.width &&
    box.x + box.width > view.x &&
    box.y < view.y + view.height &&
    box.y + box.height > view.y;
  return seen(corners) && !seen(nodes);
}
