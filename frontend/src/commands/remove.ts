import { removeEdges, removeNodes } from "../graph/changes";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable } from "./command";

export function hasSelection({ designer }: CommandContext): boolean {
  return designer.selection.nodes.length + designer.selection.edges.length > 0;
}

export const remove: Command = {
  id: "delete",
  group: "edit",
  title: () => t("Delete"),
  shortcuts: ["Delete", "Backspace"],
  enabled: (context) => editable(context) && hasSelection(context),
  run: ({ designer }) => {
    const { nodes, edges } = designer.selection;
    const label =
      nodes.length > 0 ? t("Delete {n} {n|node|nodes}", { n: nodes.length }) : t("Delete edge");
    designer.change(
      label,
      (document) => removeNodes(removeEdges(document, new Set(edges)), new Set(nodes)),
      { select: { nodes: [], edges: [] } },
    );
  },
};
