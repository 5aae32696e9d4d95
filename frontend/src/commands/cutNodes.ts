import { copiedText, removeCopied } from "./clipboard";
import { type Command, editable, hasNodes } from "./command";
import { t } from "./texts";

export const cutNodes: Command = {
  id: "cut",
  group: "edit",
  title: () => t("cut"),
  enabled: (context) => editable(context) && hasNodes(context),
  run: async () => {
    const text = copiedText();
    if (text === null) return;
    await navigator.clipboard.writeText(text);
    removeCopied();
  },
};
