import { copiedText } from "./clipboard";
import { type Command, hasNodes } from "./command";
import { t } from "./texts";

/** The keys come as the browser's own clipboard events, see `listenToClipboard`. */
export const copy: Command = {
  id: "copy",
  group: "edit",
  title: () => t("copy"),
  enabled: hasNodes,
  run: async () => {
    const text = copiedText();
    if (text !== null) await navigator.clipboard.writeText(text);
  },
};
