import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import type { Command } from "./command";

export const editNode: Command = {
  id: "edit-node",
  group: "edit",
  title: () => t("Edit the node"),
  shortcuts: ["Enter"],
  enabled: ({ designer }) => designer.selection.nodes.length === 1,
  run: ({ designer }) => {
    const node = designer.selection.nodes[0];
    if (node === undefined) return;
    useView.getState().set({ rightOpen: true });
    designer.goTo(node, "");
  },
};
