import type { Command } from "./command";
import { hasSelection } from "./remove";
import { t } from "./texts";

export const selectNone: Command = {
  id: "select-none",
  group: "select",
  title: () => t("selectNone"),
  shortcuts: ["Escape"],
  enabled: hasSelection,
  run: ({ designer }) => designer.select({}),
};
