import { cut, paste } from "../graph/clipboard";
import { type Command, editable, hasNodes } from "./command";
import { t } from "./texts";

export const duplicate: Command = {
  id: "duplicate",
  group: "edit",
  title: () => t("duplicate"),
  shortcuts: ["Mod+D"],
  enabled: (context) => editable(context) && hasNodes(context),
  run: ({ designer }) => {
    const { catalogue, document, selection } = designer;
    if (catalogue === null) return;
    const copy = paste(document, catalogue, cut(document, new Set(selection.nodes)), null);
    designer.change(t("duplicated", { n: copy.ids.length }), () => copy.document, {
      select: { nodes: copy.ids, edges: [] },
    });
  },
};
