import { reachable } from "../graph/walk";
import { type Command, hasNodes } from "./command";
import { t } from "./texts";

export const selectUpstream: Command = {
  id: "select-upstream",
  group: "select",
  title: () => t("selectUpstream"),
  shortcuts: ["Shift+ArrowLeft"],
  enabled: hasNodes,
  run: ({ designer }) =>
    designer.select({ nodes: reachable(designer.document, designer.selection.nodes, "up") }),
};
