import { reachable } from "../graph/walk";
import { t } from "../ui/i18n";
import { type Command, hasNodes } from "./command";

export const selectUpstream: Command = {
  id: "select-upstream",
  group: "select",
  title: () => t("Select everything upstream"),
  shortcuts: ["Shift+ArrowLeft"],
  enabled: hasNodes,
  run: ({ designer }) =>
    designer.select({ nodes: reachable(designer.document, designer.selection.nodes, "up") }),
};
