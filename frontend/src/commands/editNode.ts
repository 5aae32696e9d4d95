import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import type { Command } from "./command";
import { editNote } from "./groups";

export const editNode: Command = {
  id: "edit-node",
  group: "edit",
  title: () => t("Edit the node"),
  shortcuts: ["Enter"],
  enabled: (context) =>
    context.designer.selection.nodes.length === 1 || editNote.enabled?.(context) === true,
  run: (context) => {
    const { designer } = context;
    const node = designer.selection.nodes[0];
    if (node === undefined) return editNote.run(context);
    useView.getState().set({ rightOpen: true });
    designer.goTo(node, "");
  },
};
