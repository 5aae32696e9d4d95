import { notesOf } from "../graph/drawing";
import { t } from "../ui/i18n";
import type { Command } from "./command";

export const selectAll: Command = {
  id: "select-all",
  group: "select",
  title: () => t("Select all"),
  shortcuts: ["Mod+A"],
  run: ({ designer }) =>
    designer.select({
      nodes: designer.document.nodes.map((node) => node.id),
      notes: notesOf(designer.document).map((note) => note.id),
    }),
};
