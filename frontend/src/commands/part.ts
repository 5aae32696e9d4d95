/** Commands for what only simulations and tests use: records on edges, muted nodes, and doubles. */

import { canPin } from "../designer/derived";
import { chosenDrawnEdge, drawing } from "../designer/drawn";
import { edgeId, isStoreKind } from "../graph/document";
import { doubleOf, mutable, mutedOf, pinOn, setDouble, setPin, toggleMuted } from "../graph/pins";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, chosenNodes, editable } from "./command";
import { openDialog } from "./dialogs";

/** The selected edge, if it carries records that can be pinned. */
function chosenEdge({ designer }: CommandContext) {
  const edge = chosenDrawnEdge(designer);
  const source = drawing(designer).nodes.find((node) => node.id === edge?.source);
  const own = designer.document.nodes.find((node) => node.id === edge?.source);
  if (edge === undefined || isStoreKind((own ?? source)?.kind ?? "")) return undefined;
  return canPin(designer, edge) ? edge : undefined;
}

export const pinRecords: Command = {
  id: "pin-records",
  group: "edit",
  title: () => t("Pin records on the edge…"),
  shortcuts: ["P"],
  enabled: (context) => editable(context) && chosenEdge(context) !== undefined,
  run: () => openDialog("pin"),
};

export const unpin: Command = {
  id: "unpin-records",
  group: "edit",
  title: () => t("Remove the pinned records"),
  enabled: (context) => {
    const edge = chosenEdge(context);
    const { document } = context.designer;
    return editable(context) && edge !== undefined && pinOn(document, edgeId(edge)) !== undefined;
  },
  run: (context) => {
    const edge = chosenEdge(context);
    if (edge === undefined) return;
    context.designer.change(t("Remove the pinned records"), (now) => setPin(now, edge, null));
  },
};

export const mute: Command = {
  id: "mute",
  group: "edit",
  title: () => t("Mute in simulations, or unmute"),
  shortcuts: ["D"],
  enabled: (context) => {
    return editable(context) && mutable(drawing(context.designer), chosenNodes(context)).length > 0;
  },
  run: (context) => {
    const { designer } = context;
    const [drawn, nodes] = [drawing(designer), chosenNodes(context)];
    const muted = mutedOf(designer.document);
    const all = mutable(drawn, nodes).every((id) => muted.includes(id));
    designer.change(all ? t("Unmute") : t("Mute"), (now) => toggleMuted(now, nodes, drawn));
  },
};

/** The selected node, if a table of answers can stand for it. */
function chosenNode(context: CommandContext) {
  const drawn = drawing(context.designer);
  const [id, ...others] = mutable(drawn, chosenNodes(context));
  if (id === undefined || others.length > 0) return undefined;
  const passes =
    drawn.edges.some((edge) => edge.target === id) &&
    drawn.edges.some((edge) => edge.source === id);
  return passes ? id : undefined;
}

export const double: Command = {
  id: "double",
  group: "edit",
  title: () => t("Double for simulations and tests…"),
  shortcuts: ["Shift+D"],
  enabled: (context) => editable(context) && chosenNode(context) !== undefined,
  run: () => openDialog("double"),
};

export const removeDouble: Command = {
  id: "remove-double",
  group: "edit",
  title: () => t("Remove the double"),
  enabled: (context) => {
    const id = chosenNode(context);
    const { document } = context.designer;
    return editable(context) && id !== undefined && doubleOf(document, id) !== undefined;
  },
  run: (context) => {
    const id = chosenNode(context);
    if (id === undefined) return;
    context.designer.change(t("Remove the double"), (now) => setDouble(now, id, null));
  },
};
