import type { Command } from "./command";
import { openDialog } from "./dialogs";
import { t } from "./texts";

export const openCommands: Command = {
  id: "commands",
  group: "go",
  title: () => t("commands"),
  shortcuts: ["Mod+K", "Mod+Shift+P"],
  everywhere: true,
  run: () => openDialog("commands"),
};
