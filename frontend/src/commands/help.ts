import { create } from "zustand";
import { t } from "../ui/i18n";
import type { Command } from "./command";

/** What the open help was asked for; null if it is closed. */
export const useHelp = create<{ asked: string | null }>()(() => ({ asked: null }));

export function openHelp(asked: string | null) {
  useHelp.setState({ asked });
}

export const help: Command = {
  id: "help",
  group: "go",
  title: () => t("Help on operators and functions…"),
  shortcuts: ["F1"],
  run: ({ designer }) => {
    const [node] = designer.selection.nodes;
    const kind = designer.document.nodes.find((each) => each.id === node)?.kind;
    const entry = designer.catalog?.kinds.find((each) => each.kind === kind);
    openHelp(designer.selection.nodes.length === 1 ? (entry?.title ?? "") : "");
  },
};
