import { useView } from "../designer/view";
import type { Command } from "./command";
import { t } from "./texts";

export const searchPalette: Command = {
  id: "search-palette",
  group: "add",
  title: () => t("searchPalette"),
  shortcuts: ["/"],
  run: () => {
    useView.getState().set({ leftOpen: true, leftTab: "palette" });
    requestAnimationFrame(() =>
      document.querySelector<HTMLInputElement>("[data-palette-search]")?.focus(),
    );
  },
};
