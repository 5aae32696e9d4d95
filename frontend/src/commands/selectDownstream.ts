import { reachable } from "../graph/walk";
import { type Command, hasNodes } from "./command";
import { t } from "./texts";

export const selectDownstream: Command = {
  id: "select-downstream",
  group: "select",
  title: () => t("selectDownstream"),
  shortcuts: ["Shift+ArrowRight"],
  enabled: hasNodes,
  run: ({ designer }) =>
    designer.select({ nodes: reachable(designer.document, designer.selection.nodes, "down") }),
};
