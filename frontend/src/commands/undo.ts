import { pendingText } from "../designer/pending";
import { notifyLatest } from "../frame/notify";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export const undo: Command = {
  id: "undo",
  group: "edit",
  title: () => t("Undo"),
  shortcuts: ["Mod+Z"],
  enabled: (context) =>
    editable(context) &&
    (pendingText()?.canUndo() === true || context.designer.history.past.length > 0),
  run: ({ designer }) => {
    if (pendingText()?.undo() === true) return;
    const what = designer.history.past.at(-1)?.label ?? "";
    designer.undo();
    notifyLatest("undo", t("Undone on the canvas: {what}", { what }));
  },
};
