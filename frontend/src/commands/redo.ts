import { type Command, editable } from "./command";
import { t } from "./texts";

export const redo: Command = {
  id: "redo",
  group: "edit",
  title: () => t("redo"),
  shortcuts: ["Mod+Shift+Z", "Mod+Y"],
  enabled: (context) => editable(context) && context.designer.history.future.length > 0,
  run: ({ designer }) => designer.redo(),
};
