import type { Command } from "./command";
import { openDialog } from "./dialogs";
import { t } from "./texts";

export const openShortcuts: Command = {
  id: "shortcuts",
  group: "go",
  title: () => t("shortcuts"),
  shortcuts: ["?"],
  run: () => openDialog("shortcuts"),
};
