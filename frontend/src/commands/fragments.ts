/** Commands for fragments: make one of the selection, dissolve one. */

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

export const dissolveFragment: Command = {
  id: "dissolve-fragment",
  group: "arrange",
  title: () => t("Dissolve the fragment"),
  enabled: (context) => editable(context) && chosen(context) !== undefined,
  run: async (context) => {
    const node = chosen(context);
    if (node === undefined) return;
    const { dissolved } = await import("../graph/fragmentChanges");
    const made = dissolved(context.designer.document, node.id);
    if (made === null) return;
    context.designer.change(t("Dissolve the fragment"), () => made.document, {
      select: { nodes: made.ids, edges: [] },
    });
  },
};
