/** Commands for fragments: make one of the selection, dissolve one. */

import { drawnOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { findNode } from "../graph/document";
import { fragmentAround, fragmentOfGroup, groupOf } from "../graph/drawing";
import { isFragment } from "../graph/fragments";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable, hasNodes } from "./command";
import { openDialog } from "./dialogs";

function chosen({ designer: { document, selection } }: CommandContext) {
  const node = document.nodes.find((each) => each.id === selection.nodes[0]);
  return selection.nodes.length === 1 && node !== undefined && isFragment(node) ? node : undefined;
}

export const makeFragment: Command = {
  id: "make-fragment",
  group: "arrange",
  title: () => t("Make a fragment…"),
  enabled: (context) => editable(context) && hasNodes(context),
  run: () => openDialog("fragment"),
};

/** The fragment that the command opens or closes: a selected one, or the opened one around the selected inner node. */
function placed({ designer }: CommandContext): { id: string; open: boolean } | undefined {
  const { nodes, inner } = designer.selection;
  const drawn = drawnOf(designer);
  const id = inner ?? nodes[0];
  if (id === undefined || nodes.length !== 1) return undefined;
  const node = findNode(drawn.document, id);
  if (node !== undefined && isFragment(node)) return { id, open: true };
  const around = drawn.opened.has(id) ? id : inner && groupOf(drawn.document, inner);
  if (around === undefined || around === "") return undefined;
  const fragment =
    typeof around === "string" ? around : (fragmentOfGroup(around) ?? fragmentAround(around.id));
  return fragment === null ? undefined : { id: fragment, open: false };
}

export const openInPlace: Command = {
  id: "open-in-place",
  group: "view",
  title: () => t("Open the fragment in place, or close it"),
  shortcuts: ["O"],
  enabled: (context) => placed(context) !== undefined,
  run: async (context) => {
    const found = placed(context);
    if (found === undefined) return;
    const { inner, nodes } = context.designer.selection;
    await context.designer.openInPlace(found.id, found.open);
    if (found.open || inner === undefined) return;
    // The node of a closed fragment is selected: it stands for what was.
    const { owners } = drawnOf(useDesigner.getState());
    useDesigner.getState().select({ nodes, inner: owners.has(found.id) ? found.id : undefined });
  },
};

export const dissolveFragment: Command = {
  id: "dissolve-fragment",
  group: "arrange",
  title: () => t("Dissolve the fragment"),
  enabled: (context) => editable(context) && chosen(context) !== undefined,
  run: async (context) => {
    const node = chosen(context);
    const { catalog, document } = context.designer;
    if (node === undefined || catalog === null) return;
    const { dissolved } = await import("../graph/fragmentChanges");
    const made = dissolved(document, catalog, node.id);
    if (made === null) return;
    context.designer.change(t("Dissolve the fragment"), () => made.document, {
      select: { nodes: made.ids, edges: [] },
    });
  },
};
