import { t } from "../ui/i18n";
import { pasteText } from "./clipboard";
import { type Command, editable } from "./command";

export const pasteNodes: Command = {
  id: "paste",
  group: "edit",
  title: () => t("Paste"),
  enabled: editable,
  run: async () => {
    pasteText(await navigator.clipboard.readText());
  },
};
