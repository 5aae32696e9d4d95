import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export const undo: Command = {
  id: "undo",
  group: "edit",
  title: () => t("Undo"),
  shortcuts: ["Mod+Z"],
  enabled: (context) => editable(context) && context.designer.history.past.length > 0,
  run: ({ designer }) => designer.undo(),
};
