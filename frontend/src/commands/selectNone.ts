import { t } from "../ui/i18n";
import type { Command } from "./command";
import { hasSelection } from "./remove";

export const selectNone: Command = {
  id: "select-none",
  group: "select",
  title: () => t("Select nothing"),
  shortcuts: ["Escape"],
  enabled: hasSelection,
  run: ({ designer }) => designer.select({}),
};
