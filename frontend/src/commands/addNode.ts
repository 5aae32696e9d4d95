import { canvas } from "../designer/canvasApi";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { type Catalog, portsOf } from "../graph/catalog";
import { addNode as addTo, connect, insertOnEdge, makeRoom, setParam } from "../graph/changes";
import { firstFit, firstSource, fitsOnEdge, type PortAddress } from "../graph/connect";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  findNode,
  isStoreKind,
  type Json,
  type Position,
  positionOf,
  sourcePort,
  type TopologyDocument,
} from "../graph/document";
import { groupOf, setGroupOf } from "../graph/drawing";
import {
  freePlace,
  NODE_HEIGHT,
  NODE_WIDTH,
  placeBeside,
  STORE_HEIGHT,
  STORE_WIDTH,
} from "../graph/geometry";
import { t } from "../ui/i18n";
import { type Command, editable } from "./command";

export interface AddOptions {
  /** The middle of the node; if omitted, it goes beside the selected node or into the middle of the view. */
  readonly at?: Position;
  readonly from?: PortAddress;
  readonly to?: PortAddress;
  /** The id of the edge into which the node is inserted. */
  readonly edge?: string;
  /** Parameters that the node begins with. */
  readonly params?: Readonly<Record<string, Json>>;
}

/** The node's first unconnected output, else its first output; null if it has none. */
function freeOutput(
  document: TopologyDocument,
  catalog: Catalog,
  node: DocumentNode,
): PortAddress | null {
  if (isStoreKind(node.kind)) return null;
  const outputs = portsOf(catalog, node).filter((port) => port.side === "output");
  const used = new Set(
    document.edges.filter((edge) => edge.source === node.id).map((edge) => sourcePort(edge)),
  );
  const port = outputs.find((each) => !used.has(each.name)) ?? outputs[0];
  return port === undefined ? null : { node: node.id, port: port.name };
}

/** The middle between the nodes of an edge. */
function between(document: TopologyDocument, edge: DocumentEdge): Position {
  const [from, to] = [edge.source, edge.target].map((id) => {
    const node = findNode(document, id);
    return node === undefined ? { x: 0, y: 0 } : positionOf(node);
  }) as [Position, Position];
  return { x: Math.round((from.x + to.x) / 2), y: Math.round((from.y + to.y) / 2) };
}

/**
 * Adds a node of a kind and connects it: into an edge, to the wire that was pulled, or after the selected node.
 * Selects it and returns its id; null if the topology is read-only.
 */
export function addKind(kind: string, options: AddOptions = {}): string | null {
  const state = useDesigner.getState();
  const { catalog, document } = state;
  if (catalog === null || state.readOnly) return null;
  const known = knownRoles(state);
  const title = catalog.kinds.find((entry) => entry.kind === kind)?.title ?? kind;
  const selected = state.selection.nodes.length === 1 ? state.selection.nodes[0] : undefined;
  const beside = selected === undefined ? undefined : findNode(document, selected);
  const size = isStoreKind(kind)
    ? { width: STORE_WIDTH, height: STORE_HEIGHT }
    : { width: NODE_WIDTH, height: NODE_HEIGHT };

  const into = document.edges.find((edge) => edgeId(edge) === options.edge);
  let place: Position;
  if (options.at !== undefined) {
    const wanted = { x: options.at.x - size.width / 2, y: options.at.y - size.height / 2 };
    place = into === undefined ? freePlace(document, catalog, wanted, size) : wanted;
  } else if (into !== undefined) {
    place = between(document, into);
  } else if (beside !== undefined) {
    place = placeBeside(document, catalog, beside, kind);
  } else {
    const centre = canvas()?.centre() ?? { x: 0, y: 0 };
    const preferred = { x: centre.x - size.width / 2, y: centre.y - size.height / 2 };
    place = freePlace(document, catalog, preferred, size);
  }

  let made: string | null = null;
  state.change(t("Add {title}", { title }), (before) => {
    const added = addTo(before, catalog, kind, place);
    made = added.id;
    let now = added.document;
    for (const [name, value] of Object.entries(options.params ?? {})) {
      now = setParam(now, catalog, added.id, name, value);
    }
    const edge = now.edges.find((candidate) => edgeId(candidate) === options.edge);
    if (edge !== undefined && fitsOnEdge(now, catalog, known, kind, edge)) {
      return makeRoom(insertOnEdge(now, catalog, known, edge, added.id), catalog, added.id);
    }
    if (options.from !== undefined) {
      const to = firstFit(now, catalog, known, options.from, added.id);
      if (to !== null) now = connect(now, options.from, to);
    } else if (options.to !== undefined) {
      const from = firstSource(now, catalog, known, added.id, options.to);
      if (from !== null) now = connect(now, from, options.to);
    } else if (options.at === undefined && beside !== undefined) {
      if (isStoreKind(kind)) {
        const to = firstFit(now, catalog, known, { node: added.id, port: "out" }, beside.id);
        if (to !== null) now = connect(now, { node: added.id, port: "out" }, to);
      } else {
        const from = freeOutput(now, catalog, beside);
        const to = from === null ? null : firstFit(now, catalog, known, from, added.id);
        if (from !== null && to !== null) now = connect(now, from, to);
      }
      const group = groupOf(now, beside.id);
      if (group !== undefined) now = setGroupOf(now, added.id, group.id);
    }
    return now;
  });
  if (made !== null) {
    const id: string = made;
    useDesigner.getState().select({ nodes: [id] });
    if (options.at === undefined) requestAnimationFrame(() => canvas()?.reveal(id));
  }
  return made;
}

export const addNode: Command = {
  id: "add-node",
  group: "add",
  title: () => t("Add a node…"),
  shortcuts: ["N"],
  writes: true,
  enabled: editable,
  run: ({ canvas: api }) => api?.openAddMenu(),
};
