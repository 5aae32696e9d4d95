import { t } from "../ui/i18n";
import { type Command, editable } from "./command";
import { openDialog } from "./dialogs";

/** Connects by keyboard: opens a list of all ports that the selected node could feed. */
export const connectTo: Command = {
  id: "connect-to",
  group: "edit",
  title: () => t("Connect the node to…"),
  shortcuts: ["Shift+C"],
  enabled: (context) => editable(context) && context.designer.selection.nodes.length === 1,
  run: () => openDialog("connect"),
};
