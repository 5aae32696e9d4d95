/** Commands for the bends of the selected edge. */

import { focusBend, useBending } from "../designer/bending";
import { drawing, drawnOf, foldedOf } from "../designer/drawn";
import { halfway, legsThrough, pointsOf, setPoints } from "../graph/bends";
import { type DocumentEdge, edgeId, targetPort } from "../graph/document";
import { snap } from "../graph/geometry";
import { dividedBy, endsOf, ways } from "../graph/routing";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable } from "./command";

/** The selected edge, if it can be bent: as the document has it, and with records. */
function chosenEdge({ designer }: CommandContext): DocumentEdge | undefined {
  const { document, selection } = designer;
  const [id] = selection.edges;
  if (selection.edges.length !== 1 || selection.nodes.length > 0) return undefined;
  const edge = document.edges.find((each) => edgeId(each) === id);
  if (edge === undefined || targetPort(edge) === "store") return undefined;
  const { hidden } = foldedOf(designer);
  const whole = drawing(designer).edges.some((each) => edgeId(each) === id);
  const from = hidden.get(edge.source);
  return whole && (from === undefined || from !== hidden.get(edge.target)) ? edge : undefined;
}

/** The bends of an edge, as they are drawn. */
function bendsOf({ designer }: CommandContext, edge: DocumentEdge) {
  const points = pointsOf(drawing(designer)).get(edgeId(edge)) ?? [];
  return dividedBy(edge, points, foldedOf(designer).hidden);
}

/** The bend with the focus, of the selected edge. */
function chosenBend(context: CommandContext) {
  const edge = chosenEdge(context);
  const { at } = useBending.getState();
  if (edge === undefined || at === null || at.edge !== edgeId(edge)) return undefined;
  return at.index < bendsOf(context, edge).between.length ? { edge, index: at.index } : undefined;
}

export const bendEdge: Command = {
  id: "bend-edge",
  group: "arrange",
  title: () => t("Bend the edge"),
  shortcuts: ["B"],
  enabled: (context) => editable(context) && chosenEdge(context) !== undefined,
  run: (context) => {
    const edge = chosenEdge(context);
    const { catalog } = context.designer;
    if (edge === undefined || catalog === null) return;
    const drawn = drawnOf(context.designer);
    const id = edgeId(edge);
    const folds = foldedOf(context.designer);
    const nodes = new Map(drawn.document.nodes.map((node) => [node.id, node]));
    const ends = endsOf(edge, nodes, catalog, folds.hidden);
    if (ends === null) return;
    const { between, inSource, inTarget } = bendsOf(context, edge);
    const way = between.length === 0 && ways(drawn.document, catalog, folds).get(id);
    const legs = way ? [way] : legsThrough(...ends, between);
    const length = (leg: (typeof legs)[number]) =>
      leg.slice(1).reduce((sum, { x, y }, index) => {
        const before = leg[index] ?? { x, y };
        return sum + Math.abs(x - before.x) + Math.abs(y - before.y);
      }, 0);
    const lengths = legs.map(length);
    const index = lengths.indexOf(Math.max(...lengths));
    const all = [...inSource, ...between, ...inTarget];
    const bent = all
      .toSpliced(inSource.length + index, 0, snap(halfway(legs[index] ?? [])))
      .map(drawn.toDocument);
    context.designer.change(t("Bend the edge"), (now) => setPoints(now, edge, bent));
    focusBend(id, index);
  },
};

export const removeBend: Command = {
  id: "remove-bend",
  group: "arrange",
  title: () => t("Remove the bend"),
  enabled: (context) => editable(context) && chosenBend(context) !== undefined,
  run: (context) => {
    const bend = chosenBend(context);
    if (bend === undefined) return;
    const { between, inSource, inTarget } = bendsOf(context, bend.edge);
    const { toDocument } = drawnOf(context.designer);
    const left = [...inSource, ...between.toSpliced(bend.index, 1), ...inTarget].map(toDocument);
    context.designer.change(t("Remove the bend"), (now) => setPoints(now, bend.edge, left));
    focusBend(edgeId(bend.edge), bend.index);
  },
};

export const straightenEdge: Command = {
  id: "straighten-edge",
  group: "arrange",
  title: () => t("Remove all bends of the edge"),
  shortcuts: ["Shift+B"],
  enabled: (context) => {
    const edge = chosenEdge(context);
    return editable(context) && edge !== undefined && bendsOf(context, edge).between.length > 0;
  },
  run: (context) => {
    const edge = chosenEdge(context);
    if (edge === undefined) return;
    context.designer.change(t("Remove all bends of the edge"), (now) => setPoints(now, edge, []));
  },
};
