import { reachable } from "../graph/walk";
import { t } from "../ui/i18n";
import { type Command, hasNodes } from "./command";

export const selectDownstream: Command = {
  id: "select-downstream",
  group: "select",
  title: () => t("Select everything downstream"),
  shortcuts: ["Shift+ArrowRight"],
  enabled: hasNodes,
  run: ({ designer }) =>
    designer.select({ nodes: reachable(designer.document, designer.selection.nodes, "down") }),
};
