/** Commands for what only simulations use: records on edges, and muted nodes. */

import { edgeId, isStoreKind } from "../graph/document";
import { isFragment } from "../graph/fragments";
import { mutable, mutedOf, pinOn, setPin, toggleMuted } from "../graph/pins";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable } from "./command";
import { openDialog } from "./dialogs";

/** The selected edge, if it carries records. */
function chosenEdge({ designer: { document, selection } }: CommandContext) {
  const edge = document.edges.find((each) => edgeId(each) === selection.edges[0]);
  const source = document.nodes.find((node) => node.id === edge?.source);
  const target = document.nodes.find((node) => node.id === edge?.target);
  if (selection.edges.length !== 1 || source === undefined || target === undefined)
    return undefined;
  return isStoreKind(source.kind) || isFragment(source) || isFragment(target) ? undefined : edge;
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
    const { document, selection } = context.designer;
    return editable(context) && mutable(document, selection.nodes).length > 0;
  },
  run: ({ designer }) => {
    const { document, selection } = designer;
    const muted = mutedOf(document);
    const all = mutable(document, selection.nodes).every((id) => muted.includes(id));
    designer.change(all ? t("Unmute") : t("Mute"), (now) => toggleMuted(now, selection.nodes));
  },
};
