import { t } from "../ui/i18n";
import { copiedText, removeCopied } from "./clipboard";
import { type Command, editable, hasMarks } from "./command";

export const cutNodes: Command = {
  id: "cut",
  group: "edit",
  title: () => t("Cut"),
  enabled: (context) => editable(context) && hasMarks(context),
  run: async () => {
    const text = copiedText();
    if (text === null) return;
    await navigator.clipboard.writeText(text);
    removeCopied();
  },
};
