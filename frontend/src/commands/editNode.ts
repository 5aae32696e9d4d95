import { useView } from "../designer/view";
import type { Command } from "./command";
import { t } from "./texts";

export const editNode: Command = {
  id: "edit-node",
  group: "edit",
  title: () => t("editNode"),
  shortcuts: ["Enter"],
  enabled: ({ designer }) => designer.selection.nodes.length === 1,
  run: ({ designer }) => {
    const node = designer.selection.nodes[0];
    if (node === undefined) return;
    useView.getState().set({ rightOpen: true });
    designer.goTo(node, "");
  },
};
