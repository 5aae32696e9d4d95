import { t } from "../ui/i18n";
import type { Command } from "./command";
import { openDialog } from "./dialogs";

export const searchCanvas: Command = {
  id: "search",
  group: "go",
  title: () => t("Find in the topology…"),
  shortcuts: ["Mod+F"],
  writes: true,
  run: () => openDialog("search"),
};
