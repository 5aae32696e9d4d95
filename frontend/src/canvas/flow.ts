/** Converts the document to React Flow's nodes and edges, reusing every object that did not change. */

import { type Edge, type Node, Position as Side } from "@xyflow/react";
import { drawnOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { type Catalog, kindOf } from "../graph/catalog";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  isStoreKind,
  labelOf,
  positionOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import {
  type Folded,
  type Frame,
  fragmentAround,
  fragmentOfGroup,
  type Group,
  type GroupPort,
  innerPort,
  type Note,
  noteBox,
  notesOf,
} from "../graph/drawing";
import type { Drawn } from "../graph/opening";
import { t } from "../ui/i18n";
import { measuredOf } from "./handles";

/** `owner`: the fragment node of the document that the node is within. */
export type OperatorFlowNode = Node<
  { node: DocumentNode; owner?: string | undefined },
  "operator" | "store"
>;
/** The frame around an open group, or the box that stands for a collapsed one. */
export type GroupFlowNode = Node<{ frame: Frame; group: Group }, "frame" | "group">;
export type NoteFlowNode = Node<{ note: Note }, "note">;
export type FlowNode = OperatorFlowNode | GroupFlowNode | NoteFlowNode;
/** `own`: the edge of the document that it stands for, whose index is -1 within a fragment. */
export type FlowEdge = Edge<
  { edge: DocumentEdge; own: DocumentEdge; index: number; store: boolean },
  "record"
>;

const NOTE = "note:";
const GROUP = "group:";

/** The ids of groups and notes on the canvas, which no node of a document can have. */
export const noteFlowId = (id: string) => `${NOTE}${id}`;
export const groupFlowId = (id: string) => `${GROUP}${id}`;

interface Chosen {
  nodes: string[];
  notes: string[];
  inner: string | undefined;
}

/**
 * The ids of documents' nodes and notes among those of the canvas. The frame of a group is passed over: its nodes count. The
 * frame of a fragment and what is within stand for the fragment's node; a node is `inner` if nothing else is chosen.
 */
export function chosenOf(nodes: readonly FlowNode[]): Chosen {
  const found = new Set<string>();
  const within: string[] = [];
  const notes: string[] = [];
  for (const node of nodes) {
    if (node.hidden === true) continue;
    if (node.type === "note") {
      const fragment = fragmentAround(node.data.note.id);
      if (fragment === null) notes.push(node.data.note.id);
      else found.add(ownerOf(fragment));
    } else if (node.type === "group" || isOfFragment(node))
      for (const id of nodesOfFrame(node.data.frame)) found.add(id);
    else if (isOperator(node)) {
      if (node.data.owner !== undefined) within.push(node.id);
      found.add(node.data.owner ?? node.id);
    }
  }
  const alone = within.length === 1 && found.size === 1 && notes.length === 0;
  return { nodes: [...found], notes, inner: alone ? within[0] : undefined };
}

/** The fragment node of the document that contains an opened one, or that is it. */
function ownerOf(fragment: string): string {
  return drawnOf(useDesigner.getState()).owners.get(fragment) ?? fragment;
}

/** The nodes of the document in a frame; of an opened fragment, its node or the one that contains it. */
export function nodesOfFrame({ group, nodes }: Frame): string[] {
  const { opened, owners } = drawnOf(useDesigner.getState());
  const fragment = fragmentOfGroup(group) ?? fragmentAround(group.id);
  if (fragment !== null) return [ownerOf(fragment)];
  return opened.size === 0 ? [...nodes] : [...new Set(nodes.map((id) => owners.get(id) ?? id))];
}

/** Whether a node of the canvas is the frame of a fragment that is opened in place, or a group within. */
export function isOfFragment(node: FlowNode): node is GroupFlowNode {
  if (node.type !== "frame" && node.type !== "group") return false;
  const { group } = node.data;
  return fragmentOfGroup(group) !== null || fragmentAround(group.id) !== null;
}

export function isOperator(node: FlowNode): node is OperatorFlowNode {
  return node.type === "operator" || node.type === "store";
}

export function flowNodes(
  { document, owners }: Pick<Drawn, "document" | "owners">,
  catalog: Catalog,
  selected: ReadonlySet<string>,
  before: readonly FlowNode[],
  readOnly: boolean,
  hidden: Folded["hidden"],
): OperatorFlowNode[] {
  const old = new Map(before.filter(isOperator).map((node) => [node.id, node]));
  return document.nodes.map((node) => {
    const last = old.get(node.id);
    const owner = owners.get(node.id);
    const isSelected = selected.has(node.id);
    const isHidden = hidden.has(node.id);
    const draggable = !readOnly && owner === undefined;
    const { handles, size } = measuredOf(catalog, node);
    if (
      last !== undefined &&
      last.data.node === node &&
      last.data.owner === owner &&
      last.handles === handles &&
      last.draggable === draggable &&
      (last.hidden ?? false) === isHidden
    ) {
      return last.selected === isSelected ? last : { ...last, selected: isSelected };
    }
    return {
      ...last,
      id: node.id,
      type: isStoreKind(node.kind) ? ("store" as const) : ("operator" as const),
      position: positionOf(node),
      ...size,
      measured: size,
      handles,
      data: { node, owner },
      selected: isSelected,
      draggable,
      ...(isHidden || last?.hidden === true ? { hidden: isHidden } : {}),
      ariaLabel: `${labelOf(node)}, ${kindOf(catalog, node.kind)?.title ?? node.kind}`,
    };
  });
}

export function flowNotes(
  document: TopologyDocument,
  selected: ReadonlySet<string>,
  before: readonly FlowNode[],
  readOnly: boolean,
): NoteFlowNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  return notesOf(document).map((note) => {
    const id = noteFlowId(note.id);
    const last = old.get(id);
    const isSelected = selected.has(note.id);
    const changeable = fragmentAround(note.id) === null;
    const draggable = !readOnly && changeable;
    if (last?.type === "note" && last.data.note === note && last.draggable === draggable) {
      return last.selected === isSelected ? last : { ...last, selected: isSelected };
    }
    const { x, y, ...size } = noteBox(note);
    return {
      id,
      type: "note",
      position: { x, y },
      ...size,
      measured: size,
      data: { note },
      selected: isSelected,
      draggable,
      selectable: changeable,
      focusable: changeable,
      connectable: false,
      zIndex: -1,
      ariaLabel: t("Note: {text}", { text: (note.text ?? "").slice(0, 80) }),
    };
  });
}

/** Handles of a collapsed group for React Flow, which then need not be measured. */
function handlesOf(ports: readonly GroupPort[]) {
  return ports.map(({ id, place, side }) => ({
    id,
    type: side === "output" ? ("source" as const) : ("target" as const),
    position: side === "output" ? Side.Right : side === "input" ? Side.Left : Side.Bottom,
    x: place.x,
    y: place.y,
    width: 0,
    height: 0,
  }));
}

/** Whether all that a frame is around is selected. */
function isChosen(frame: Frame, selected: ReadonlySet<string>, owners: Drawn["owners"]): boolean {
  const { collapsed, group, nodes } = frame;
  const within = fragmentAround(group.id);
  if (within !== null) return collapsed && selected.has(owners.get(within) ?? within);
  const fragment = fragmentOfGroup(group);
  if (fragment !== null) return selected.has(fragment);
  return nodes.length > 0 && nodes.every((id) => selected.has(owners.get(id) ?? id));
}

export function flowGroups(
  { frames }: Folded,
  selected: ReadonlySet<string>,
  readOnly: boolean,
  owners: Drawn["owners"],
): GroupFlowNode[] {
  return frames.map((frame) => {
    const { x, y, ...size } = frame.box;
    const fragment = fragmentOfGroup(frame.group);
    const within = fragmentAround(frame.group.id);
    const title = frame.group.title ?? frame.group.id;
    const n = frame.nodes.length;
    return {
      id: groupFlowId(frame.group.id),
      type: frame.collapsed ? "group" : "frame",
      position: { x, y },
      ...size,
      measured: size,
      data: { frame, group: frame.group },
      selected: isChosen(frame, selected, owners),
      draggable: !readOnly && within === null && !owners.has(fragment ?? ""),
      selectable: frame.collapsed,
      connectable: false,
      focusable: frame.collapsed,
      ariaRole: "group" as const,
      zIndex: frame.collapsed ? 0 : frame.depth - 20,
      ...(frame.collapsed
        ? { handles: handlesOf(frame.ports) }
        : // Nodes and wires inside are reached through it; only its head receives the pointer.
          { dragHandle: ".frame-head", style: { pointerEvents: "none" as const } }),
      ariaLabel:
        fragment === null
          ? t("Group {title}, {n} {n, plural, one {node} other {nodes}}", { title, n })
          : t("Fragment {title}, {n} {n, plural, one {node} other {nodes}}", { title, n }),
    };
  });
}

export function flowEdges(
  { document, owners, stands }: Pick<Drawn, "document" | "owners" | "stands">,
  whole: TopologyDocument,
  selected: ReadonlySet<string>,
  before: readonly FlowEdge[],
  hidden: Folded["hidden"],
): FlowEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const labels = new Map(document.nodes.map((node) => [node.id, node.label ?? node.id]));
  const seen = new Set<string>();
  const indexes = new Map(whole.edges.map((edge, index) => [edge, index]));
  return document.edges.flatMap((edge) => {
    const id = edgeId(edge);
    const own = stands.get(id) ?? edge;
    const index = indexes.get(own) ?? -1;
    const within = owners.has(edge.source) || owners.has(edge.target);
    if (seen.has(id)) return [];
    seen.add(id);
    const from = hidden.get(edge.source);
    const to = hidden.get(edge.target);
    if (from !== undefined && from === to) return [];
    const source = from === undefined ? edge.source : groupFlowId(from.group.id);
    const target = to === undefined ? edge.target : groupFlowId(to.group.id);
    const isSelected = selected.has(edgeId(own));
    const last = old.get(id);
    const ariaLabel = `${labels.get(edge.source)} → ${labels.get(edge.target)}`;
    if (
      last !== undefined &&
      last.data?.edge === edge &&
      last.data.own === own &&
      last.data.index === index &&
      last.source === source &&
      last.target === target &&
      last.selected === isSelected &&
      last.ariaLabel === ariaLabel
    ) {
      return [last];
    }
    const store = targetPort(edge) === "store";
    return [
      {
        id,
        type: "record" as const,
        source,
        target,
        sourceHandle: from === undefined ? sourcePort(edge) : innerPort(edge, "source"),
        targetHandle: to === undefined ? targetPort(edge) : innerPort(edge, "target"),
        // The end of a wire at a collapsed group can't be moved: its port is inside.
        ...(from === undefined && to === undefined && !within ? {} : { reconnectable: false }),
        data: { edge, own, index, store },
        selected: isSelected,
        ariaLabel,
      },
    ];
  });
}
