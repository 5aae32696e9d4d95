import { t } from "../ui/i18n";
import { copiedText, removeCopied } from "./clipboard";
import { type Command, editable, hasNodes } from "./command";

export const cutNodes: Command = {
  id: "cut",
  group: "edit",
  title: () => t("Cut"),
  enabled: (context) => editable(context) && hasNodes(context),
  run: async () => {
    const text = copiedText();
    if (text === null) return;
    await navigator.clipboard.writeText(text);
    removeCopied();
  },
};
