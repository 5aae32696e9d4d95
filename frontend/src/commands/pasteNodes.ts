import { pasteText } from "./clipboard";
import { type Command, editable } from "./command";
import { t } from "./texts";

export const pasteNodes: Command = {
  id: "paste",
  group: "edit",
  title: () => t("paste"),
  enabled: editable,
  run: async () => {
    pasteText(await navigator.clipboard.readText());
  },
};
