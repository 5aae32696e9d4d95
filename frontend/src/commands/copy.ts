import { t } from "../ui/i18n";
import { copiedText } from "./clipboard";
import { type Command, hasMarks } from "./command";

/** The shortcuts arrive as the browser's clipboard events, see `listenToClipboard`. */
export const copy: Command = {
  id: "copy",
  group: "edit",
  title: () => t("Copy as JSON"),
  enabled: hasMarks,
  run: async () => {
    const text = copiedText();
    if (text !== null) await navigator.clipboard.writeText(text);
  },
};
