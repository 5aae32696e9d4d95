import { NODE_LABEL } from "../designer/store";
import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export const renameNode: Command = {
  id: "rename-node",
  group: "edit",
  title: () => t("Rename the node"),
  shortcuts: ["F2"],
  enabled: (context) => editable(context) && context.designer.selection.nodes.length === 1,
  run: ({ designer }) => {
    const node = designer.selection.nodes[0];
    if (node === undefined) return;
    useView.getState().set({ rightOpen: true });
    designer.goTo(node, NODE_LABEL);
  },
};
