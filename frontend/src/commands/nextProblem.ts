import { useView } from "../designer/view";
import { t } from "../ui/i18n";
import type { Command } from "./command";

export const nextProblem: Command = {
  id: "next-problem",
  group: "go",
  title: () => t("Go to the next problem"),
  shortcuts: ["F8"],
  enabled: ({ designer }) =>
    (designer.result?.diagnostics ?? []).some((each) => each.node !== null),
  run: ({ designer }) => {
    const located = (designer.result?.diagnostics ?? []).filter((each) => each.node !== null);
    const here = located.findIndex((each) => each.node === designer.selection.nodes[0]);
    const next = located[(here + 1) % located.length];
    if (next?.node == null) return;
    useView.getState().set({ rightOpen: true });
    designer.goTo(next.node, next.parameter);
  },
};
