/** Commands for the bends of the selected edge. */

import { type Bendable, bendableOf, ledThrough } from "../designer/bendable";
import { focusBend, useBending } from "../designer/bending";
import { drawnOf, foldedOf } from "../designer/drawn";
import { halfway, legsThrough, setPoints } from "../graph/bends";
import { type DocumentEdge, edgeId, targetPort } from "../graph/document";
import { snap } from "../graph/geometry";
import { endsOf, ways } from "../graph/routing";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable } from "./command";

/** The selected edge, if it can be bent: as the document has it, with what is drawn for it. */
function chosenEdge({ designer }: CommandContext): { own: DocumentEdge; drawn: Bendable } | null {
  const { document, selection } = designer;
  const [id] = selection.edges;
  if (selection.edges.length !== 1 || selection.nodes.length > 0) return null;
  const own = document.edges.find((each) => edgeId(each) === id);
  if (own === undefined || targetPort(own) === "store") return null;
  const drawn = bendableOf(designer, own);
  if (drawn === null) return null;
  const { hidden } = foldedOf(designer);
  const from = hidden.get(drawn.edge.source);
  return from !== undefined && from === hidden.get(drawn.edge.target) ? null : { own, drawn };
}

/** The bend with the focus, of the selected edge. */
function chosenBend(context: CommandContext) {
  const edge = chosenEdge(context);
  const { at } = useBending.getState();
  if (edge === null || at === null || at.edge !== edgeId(edge.own)) return null;
  return at.index < edge.drawn.count ? { ...edge, index: at.index } : null;
}

export const bendEdge: Command = {
  id: "bend-edge",
  group: "arrange",
  title: () => t("Bend the edge"),
  shortcuts: ["B"],
  enabled: (context) => editable(context) && chosenEdge(context) !== null,
  run: (context) => {
    const chosen = chosenEdge(context);
    const { catalog } = context.designer;
    if (chosen === null || catalog === null) return;
    const { own, drawn } = chosen;
    const { document, toDocument } = drawnOf(context.designer);
    const folds = foldedOf(context.designer);
    const nodes = new Map(document.nodes.map((node) => [node.id, node]));
    const ends = endsOf(drawn.edge, nodes, catalog, folds.hidden);
    if (ends === null) return;
    const way = drawn.points.length === 0 && ways(document, catalog, folds).get(edgeId(drawn.edge));
    const legs = way ? [way] : legsThrough(...ends, drawn.points);
    const length = (leg: (typeof legs)[number]) =>
      leg.slice(1).reduce((sum, { x, y }, index) => {
        const before = leg[index] ?? { x, y };
        return sum + Math.abs(x - before.x) + Math.abs(y - before.y);
      }, 0);
    const lengths = legs.slice(drawn.first, drawn.first + drawn.count + 1).map(length);
    const index = lengths.indexOf(Math.max(...lengths));
    const at = drawn.first + index;
    const led = drawn.points.toSpliced(at, 0, snap(halfway(legs[at] ?? [])));
    const bent = ledThrough(drawn, led, toDocument);
    context.designer.change(t("Bend the edge"), (now) => setPoints(now, own, bent));
    focusBend(edgeId(own), index);
  },
};

export const removeBend: Command = {
  id: "remove-bend",
  group: "arrange",
  title: () => t("Remove the bend"),
  enabled: (context) => editable(context) && chosenBend(context) !== null,
  run: (context) => {
    const bend = chosenBend(context);
    if (bend === null) return;
    const { own, drawn, index } = bend;
    const { toDocument } = drawnOf(context.designer);
    const left = ledThrough(drawn, drawn.points.toSpliced(drawn.first + index, 1), toDocument);
    context.designer.change(t("Remove the bend"), (now) => setPoints(now, own, left));
    focusBend(edgeId(own), index);
  },
};

export const straightenEdge: Command = {
  id: "straighten-edge",
  group: "arrange",
  title: () => t("Remove all bends of the edge"),
  shortcuts: ["Shift+B"],
  enabled: (context) => editable(context) && (chosenEdge(context)?.drawn.count ?? 0) > 0,
  run: (context) => {
    const edge = chosenEdge(context);
    if (edge === null) return;
    context.designer.change(t("Remove all bends of the edge"), (now) =>
      setPoints(now, edge.own, []),
    );
  },
};
