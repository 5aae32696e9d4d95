import { t } from "../ui/i18n";
import type { Command } from "./command";
import { openDialog } from "./dialogs";

export const openCommands: Command = {
  id: "commands",
  group: "go",
  title: () => t("Commands…"),
  shortcuts: ["Mod+K", "Mod+Shift+P"],
  everywhere: true,
  writes: true,
  run: () => openDialog("commands"),
};
