import type { Command } from "./command";
import { t } from "./texts";

export const selectAll: Command = {
  id: "select-all",
  group: "select",
  title: () => t("selectAll"),
  shortcuts: ["Mod+A"],
  run: ({ designer }) => designer.select({ nodes: designer.document.nodes.map((node) => node.id) }),
};
