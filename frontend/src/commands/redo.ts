import { pendingText } from "../designer/pending";
import { notifyLatest } from "../frame/notify";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export const redo: Command = {
  id: "redo",
  group: "edit",
  title: () => t("Redo"),
  shortcuts: ["Mod+Shift+Z", "Mod+Y"],
  enabled: (context) =>
    editable(context) &&
    (pendingText()?.canRedo() === true || context.designer.history.future.length > 0),
  run: ({ designer }) => {
    if (pendingText()?.redo() === true) return;
    const what = designer.history.future.at(-1)?.label ?? "";
    designer.redo();
    notifyLatest("undo", t("Done again on the canvas: {what}", { what }));
  },
};
