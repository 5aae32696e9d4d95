import { type Command, editable } from "./command";
import { t } from "./texts";

export const undo: Command = {
  id: "undo",
  group: "edit",
  title: () => t("undo"),
  shortcuts: ["Mod+Z"],
  enabled: (context) => editable(context) && context.designer.history.past.length > 0,
  run: ({ designer }) => designer.undo(),
};
