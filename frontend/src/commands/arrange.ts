import { moveNodes } from "../graph/changes";
import { snap } from "../graph/geometry";
import { type Alignment, align, distribute } from "../graph/layout";
import { type Command, editable } from "./command";
import { t } from "./texts";

function aligned(how: Alignment): Command {
  return {
    id: `align-${how}`,
    group: "arrange",
    title: () => t(`align_${how}`),
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 1,
    run: ({ designer }) => {
      const { catalogue, selection } = designer;
      if (catalogue === null) return;
      designer.change(t(`align_${how}`), (document) =>
        moveNodes(document, align(document, catalogue, new Set(selection.nodes), how)),
      );
    },
  };
}

function distributed(axis: "x" | "y"): Command {
  return {
    id: `distribute-${axis}`,
    group: "arrange",
    title: () => t(`distribute_${axis}`),
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 2,
    run: ({ designer }) => {
      const { catalogue, selection } = designer;
      if (catalogue === null) return;
      designer.change(t(`distribute_${axis}`), (document) =>
        moveNodes(document, distribute(document, catalogue, new Set(selection.nodes), axis)),
      );
    },
  };
}

function nudged(key: string, dx: number, dy: number): Command {
  return {
    id: `nudge-${key.toLowerCase()}`,
    group: "arrange",
    title: () => t(`nudge_${key}` as "nudge_ArrowLeft"),
    shortcuts: [`Alt+${key}`],
    enabled: (context) => editable(context) && context.designer.selection.nodes.length > 0,
    run: ({ designer }) => {
      const chosen = new Set(designer.selection.nodes);
      designer.change(
        t("moved", { n: chosen.size }),
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

export const alignLeft = aligned("left");
export const alignCentre = aligned("centre");
export const alignRight = aligned("right");
export const alignTop = aligned("top");
export const alignMiddle = aligned("middle");
export const alignBottom = aligned("bottom");
export const distributeX = distributed("x");
export const distributeY = distributed("y");
export const nudgeLeft = nudged("ArrowLeft", -1, 0);
export const nudgeRight = nudged("ArrowRight", 1, 0);
export const nudgeUp = nudged("ArrowUp", 0, -1);
export const nudgeDown = nudged("ArrowDown", 0, 1);
