import { cut, paste } from "../graph/clipboard";
import { t } from "../ui/i18n";
import { type Command, editable, hasNodes } from "./command";

export const duplicate: Command = {
  id: "duplicate",
  group: "edit",
  title: () => t("Duplicate"),
  shortcuts: ["Mod+D"],
  enabled: (context) => editable(context) && hasNodes(context),
  run: ({ designer }) => {
    const { catalog, document, selection } = designer;
    if (catalog === null) return;
    const copy = paste(document, catalog, cut(document, new Set(selection.nodes)), null);
    designer.change(
      t("Duplicate {n} {n|node|nodes}", { n: copy.ids.length }),
      () => copy.document,
      {
        select: { nodes: copy.ids, edges: [] },
      },
    );
  },
};
