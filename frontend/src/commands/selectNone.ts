import { t } from "../ui/i18n";
import type { Command } from "./command";

export const selectNone: Command = {
  id: "select-none",
  group: "select",
  title: () => t("Select nothing"),
  shortcuts: ["Escape"],
  enabled: ({ designer: { selection } }) =>
    selection.nodes.length + selection.edges.length + (selection.notes?.length ?? 0) > 0,
  run: ({ designer }) => designer.select({}),
};
