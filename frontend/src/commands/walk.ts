import { drawnOf, foldedOf } from "../designer/drawn";
import { type Direction, neighbor } from "../graph/walk";
import { type Phrase, phrase, t } from "../ui/i18n";
import type { Command } from "./command";

/** The command of an arrow key: moves from the selected node to its neighbor, or selects the first node. */
function walk(direction: Direction, title: Phrase, key: string): Command {
  return {
    id: `walk-${direction}`,
    group: "go",
    title: () => t(title),
    shortcuts: [key],
    enabled: ({ designer }) => designer.document.nodes.length > 0,
    run: ({ canvas, designer }) => {
      if (designer.catalog === null) return;
      const { hidden } = foldedOf(designer);
      const { document, opened, owners } = drawnOf(designer);
      const last = designer.selection.inner ?? designer.selection.nodes.at(-1);
      // From the frame of an opened fragment to the first node within.
      const from = opened.has(last ?? "") ? [...owners].find(([, id]) => id === last)?.[0] : last;
      let to: string | null | undefined =
        from === undefined
          ? document.nodes[0]?.id
          : neighbor(document, designer.catalog, from, direction);
      // A collapsed group is one stop.
      const own = from === undefined ? undefined : hidden.get(from);
      const passed = new Set<string>();
      while (to != null && own !== undefined && hidden.get(to) === own && !passed.has(to)) {
        passed.add(to);
        to = neighbor(document, designer.catalog, to, direction);
      }
      if (to === null || to === undefined) return;
      const owner = owners.get(to);
      if (owner === undefined) designer.select({ nodes: [...(hidden.get(to)?.nodes ?? [to])] });
      else designer.select({ nodes: [owner], inner: to });
      canvas?.reveal(to);
      canvas?.focusNode(to);
    },
  };
}

export const walkLeft = walk("left", phrase("Go to the node on the left"), "ArrowLeft");
export const walkRight = walk("right", phrase("Go to the node on the right"), "ArrowRight");
export const walkUp = walk("up", phrase("Go to the node above"), "ArrowUp");
export const walkDown = walk("down", phrase("Go to the node below"), "ArrowDown");
