import { canvas } from "../designer/canvasApi";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { addNode as addTo, connect, insertOnEdge, makeRoom } from "../graph/changes";
import { firstFit, firstSource, fitsOnEdge, type PortAddress } from "../graph/connect";
import { edgeId, findNode, isStoreKind, type Position } from "../graph/document";
import {
  freePlace,
  NODE_HEIGHT,
  NODE_WIDTH,
  placeBeside,
  STORE_HEIGHT,
  STORE_WIDTH,
} from "../graph/geometry";
import { type Command, editable } from "./command";
import { t } from "./texts";

export interface AddWish {
  /** Where its middle goes; beside the selected node, or in the middle of the view, if left out. */
  readonly at?: Position;
  readonly from?: PortAddress;
  readonly to?: PortAddress;
  /** The edge it is put into. */
  readonly edge?: string;
}

/**
 * Adds a node of a kind and wires it: into an edge, to the wire that was pulled, or after the selected
 * node. Selects it and gives its id; null if the topology cannot be changed.
 */
export function addKind(kind: string, wish: AddWish = {}): string | null {
  const state = useDesigner.getState();
  const { catalogue, document } = state;
  if (catalogue === null || state.readOnly) return null;
  const known = knownRoles(state);
  const title = catalogue.kinds.find((entry) => entry.kind === kind)?.title ?? kind;
  const selected = state.selection.nodes.length === 1 ? state.selection.nodes[0] : undefined;
  const beside = selected === undefined ? undefined : findNode(document, selected);
  const size = isStoreKind(kind)
    ? { width: STORE_WIDTH, height: STORE_HEIGHT }
    : { width: NODE_WIDTH, height: NODE_HEIGHT };

  let place: Position;
  if (wish.at !== undefined) {
    place = { x: wish.at.x - size.width / 2, y: wish.at.y - size.height / 2 };
  } else if (beside !== undefined) {
    place = placeBeside(document, catalogue, beside, kind);
  } else {
    const centre = canvas()?.centre() ?? { x: 0, y: 0 };
    const wished = { x: centre.x - size.width / 2, y: centre.y - size.height / 2 };
    place = freePlace(document, catalogue, wished, size);
  }

  let made: string | null = null;
  state.change(t("added", { title }), (before) => {
    const added = addTo(before, catalogue, kind, place);
    made = added.id;
    let now = added.document;
    const edge = now.edges.find((candidate) => edgeId(candidate) === wish.edge);
    if (edge !== undefined && fitsOnEdge(now, catalogue, known, kind, edge)) {
      return makeRoom(insertOnEdge(now, catalogue, known, edge, added.id), catalogue, added.id);
    }
    if (wish.from !== undefined) {
      const to = firstFit(now, catalogue, known, wish.from, added.id);
      if (to !== null) now = connect(now, wish.from, to);
    } else if (wish.to !== undefined) {
      const from = firstSource(now, catalogue, known, added.id, wish.to);
      if (from !== null) now = connect(now, from, wish.to);
    } else if (wish.at === undefined && beside !== undefined) {
      if (isStoreKind(kind)) {
        const to = firstFit(now, catalogue, known, { node: added.id, port: "out" }, beside.id);
        if (to !== null) now = connect(now, { node: added.id, port: "out" }, to);
      } else {
        const outputs = catalogue.kinds.find((entry) => entry.kind === beside.kind)?.outputs ?? [];
        const first = outputs[0];
        if (first !== undefined && first.dynamic === null && !isStoreKind(beside.kind)) {
          const from = { node: beside.id, port: first.name };
          const to = firstFit(now, catalogue, known, from, added.id);
          if (to !== null) now = connect(now, from, to);
        }
      }
    }
    return now;
  });
  if (made !== null) {
    const id: string = made;
    useDesigner.getState().select({ nodes: [id] });
    if (wish.at === undefined) requestAnimationFrame(() => canvas()?.reveal(id));
  }
  return made;
}

export const addNode: Command = {
  id: "add-node",
  group: "add",
  title: () => t("addNode"),
  shortcuts: ["N"],
  enabled: editable,
  run: ({ canvas: api }) => api?.openAddMenu(),
};
