import { type Direction, neighbour } from "../graph/walk";
import type { Command } from "./command";
import { t } from "./texts";

/** One command for each arrow: from the selected node to its neighbour, or to the first node. */
function walk(direction: Direction, key: string): Command {
  return {
    id: `walk-${direction}`,
    group: "go",
    title: () => t(direction),
    shortcuts: [key],
    enabled: ({ designer }) => designer.document.nodes.length > 0,
    run: ({ canvas, designer }) => {
      if (designer.catalogue === null) return;
      const from = designer.selection.nodes.at(-1);
      const to =
        from === undefined
          ? designer.document.nodes[0]?.id
          : neighbour(designer.document, designer.catalogue, from, direction);
      if (to === null || to === undefined) return;
      designer.select({ nodes: [to] });
      canvas?.reveal(to);
      canvas?.focusNode(to);
    },
  };
}

export const walkLeft = walk("left", "ArrowLeft");
export const walkRight = walk("right", "ArrowRight");
export const walkUp = walk("up", "ArrowUp");
export const walkDown = walk("down", "ArrowDown");
