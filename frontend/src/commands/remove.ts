import { removeEdges, removeNodes } from "../graph/changes";
import { edgeId } from "../graph/document";
import { removeNotes } from "../graph/drawing";
import { t } from "../ui/i18n";
import { type Command, type CommandContext, editable, hasMarks } from "./command";

/** Whether something of the document is selected, and not something within a fragment. */
export function hasSelection(context: CommandContext): boolean {
  const { document, selection } = context.designer;
  const ids = new Set(selection.edges);
  return hasMarks(context) || document.edges.some((edge) => ids.has(edgeId(edge)));
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
