import { moveNodes } from "../graph/changes";
import { snap } from "../graph/geometry";
import { type Alignment, align, distribute } from "../graph/layout";
import { type Phrase, phrase, t } from "../ui/i18n";
import { type Command, editable } from "./command";

function aligned(how: Alignment, title: Phrase): Command {
  return {
    id: `align-${how}`,
    group: "arrange",
    title: () => t(title),
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 1,
    run: ({ designer }) => {
      const { catalog, selection } = designer;
      if (catalog === null) return;
      designer.change(t(title), (document) =>
        moveNodes(document, align(document, catalog, new Set(selection.nodes), how)),
      );
    },
  };
}

function distributed(axis: "x" | "y", title: Phrase): Command {
  return {
    id: `distribute-${axis}`,
    group: "arrange",
    title: () => t(title),
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 2,
    run: ({ designer }) => {
      const { catalog, selection } = designer;
      if (catalog === null) return;
      designer.change(t(title), (document) =>
        moveNodes(document, distribute(document, catalog, new Set(selection.nodes), axis)),
      );
    },
  };
}

function nudged(key: string, title: Phrase, dx: number, dy: number): Command {
  return {
    id: `nudge-${key.toLowerCase()}`,
    group: "arrange",
    title: () => t(title),
    shortcuts: [`Alt+${key}`],
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 0,
    run: ({ designer }) => {
      const chosen = new Set(designer.selection.nodes);
      designer.change(
        t("Move {n} {n, plural, one {node} other {nodes}}", { n: chosen.size }),
        (document) => {
          const positions = new Map(
            document.nodes
              .filter((node) => chosen.has(node.id))
              .map((node) => {
                const { x, y } = node.position ?? { x: 0, y: 0 };
                return [node.id, snap({ x: x + dx * 8, y: y + dy * 8 })];
              }),
          );
          return moveNodes(document, positions);
        },
        { gesture: `nudge ${designer.selection.nodes.join()}` },
      );
    },
  };
}

export const alignLeft = aligned("left", phrase("Align left edges"));
export const alignCentre = aligned("centre", phrase("Align centers"));
export const alignRight = aligned("right", phrase("Align right edges"));
export const alignTop = aligned("top", phrase("Align top edges"));
export const alignMiddle = aligned("middle", phrase("Align middles"));
export const alignBottom = aligned("bottom", phrase("Align bottom edges"));
export const distributeX = distributed("x", phrase("Distribute horizontally"));
export const distributeY = distributed("y", phrase("Distribute vertically"));
export const nudgeLeft = nudged("ArrowLeft", phrase("Move left"), -1, 0);
export const nudgeRight = nudged("ArrowRight", phrase("Move right"), 1, 0);
export const nudgeUp = nudged("ArrowUp", phrase("Move up"), 0, -1);
export const nudgeDown = nudged("ArrowDown", phrase("Move down"), 0, 1);
