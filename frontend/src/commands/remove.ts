import { removeEdges, removeNodes } from "../graph/changes";
import { removeNotes } from "../graph/drawing";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable } from "./command";

export function hasSelection({ designer }: CommandContext): boolean {
  const { edges, nodes, notes = [] } = designer.selection;
  return nodes.length + edges.length + notes.length > 0;
}

export const remove: Command = {
  id: "delete",
  group: "edit",
  title: () => t("Delete"),
  shortcuts: ["Delete", "Backspace"],
  enabled: (context) => editable(context) && hasSelection(context),
  run: ({ designer }) => {
    const { nodes, edges, notes = [] } = designer.selection;
    const label =
      nodes.length > 0
        ? t("Delete {n} {n, plural, one {node} other {nodes}}", { n: nodes.length })
        : edges.length > 0
          ? t("Delete edge")
          : t("Delete {n} {n, plural, one {note} other {notes}}", { n: notes.length });
    designer.change(
      label,
      (document) =>
        removeNotes(removeNodes(removeEdges(document, new Set(edges)), new Set(nodes)), notes),
      { select: { nodes: [], edges: [] } },
    );
  },
};
