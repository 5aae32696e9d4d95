import { cut, paste } from "../graph/clipboard";
import { t } from "../ui/i18n";
import { type Command, editable, hasMarks } from "./command";

export const duplicate: Command = {
  id: "duplicate",
  group: "edit",
  title: () => t("Duplicate"),
  shortcuts: ["Mod+D"],
  enabled: (context) => editable(context) && hasMarks(context),
  run: ({ designer }) => {
    const { catalog, document, selection } = designer;
    if (catalog === null) return;
    const copy = paste(
      document,
      catalog,
      cut(document, new Set(selection.nodes), selection.notes),
      null,
    );
    designer.change(
      copy.ids.length > 0
        ? t("Duplicate {n} {n, plural, one {node} other {nodes}}", { n: copy.ids.length })
        : t("Duplicate {n} {n, plural, one {note} other {notes}}", { n: copy.notes.length }),
      () => copy.document,
      {
        select: { nodes: copy.ids, edges: [], notes: copy.notes },
      },
    );
  },
};
