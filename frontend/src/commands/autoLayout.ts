import { drawing } from "../designer/drawn";
import { loadElk } from "../designer/placing";
import { useView } from "../designer/view";
import { straightened } from "../graph/bends";
import { moveNodes } from "../graph/changes";
import { positionOf, type TopologyDocument } from "../graph/document";
import { moveNotes } from "../graph/drawing";
import { followingNotes, layout } from "../graph/layout";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export const autoLayout: Command = {
  id: "auto-layout",
  group: "arrange",
  title: () => t("Arrange automatically"),
  shortcuts: ["Shift+L"],
  enabled: (context) => editable(context) && context.designer.document.nodes.length > 0,
  run: async ({ canvas, designer }) => {
    const { catalog, document, selection } = designer;
    if (catalog === null) return;
    const some = selection.nodes.length > 1;
    const chosen = new Set(some ? selection.nodes : document.nodes.map((node) => node.id));
    // Wires that show their types need room for them.
    const gap = useView.getState().edgeTypes ? 104 : 48;
    const positions = await layout(await loadElk(), document, catalog, chosen, gap);
    const arranged = (now: TopologyDocument) => {
      const moved = moveNodes(straightened(now, chosen), positions);
      return moveNotes(moved, followingNotes(now, moved, catalog));
    };
    const drawn = drawing({ ...designer, document: arranged(document) });
    await canvas?.glide(new Map(drawn.nodes.map((node) => [node.id, positionOf(node)])));
    designer.change(t("Arrange automatically"), arranged);
    if (!some) requestAnimationFrame(() => canvas?.fit());
  },
};
