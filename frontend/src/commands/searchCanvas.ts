import type { Command } from "./command";
import { openDialog } from "./dialogs";
import { t } from "./texts";

export const searchCanvas: Command = {
  id: "search",
  group: "go",
  title: () => t("search"),
  shortcuts: ["Mod+F"],
  run: () => openDialog("search"),
};
