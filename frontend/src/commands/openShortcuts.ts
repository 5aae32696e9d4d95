import { t } from "../ui/i18n";
import type { Command } from "./command";
import { openDialog } from "./dialogs";

export const openShortcuts: Command = {
  id: "shortcuts",
  group: "go",
  title: () => t("Keyboard shortcuts"),
  shortcuts: ["?"],
  run: () => openDialog("shortcuts"),
};
