import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import type { Command } from "./command";

export const searchPalette: Command = {
  id: "search-palette",
  group: "add",
  title: () => t("Search the palette"),
  shortcuts: ["/"],
  run: () => {
    useView.getState().set({ leftOpen: true, leftTab: "palette" });
    requestAnimationFrame(() =>
      document.querySelector<HTMLInputElement>("[data-palette-search]")?.focus(),
    );
  },
};
