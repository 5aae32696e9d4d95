/** Converts the document to React Flow's nodes and edges, reusing every object that did not change. */

import { type Edge, type Node, Position as Side } from "@xyflow/react";
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
  type Group,
  type GroupPort,
  innerPort,
  type Note,
  noteBox,
  notesOf,
} from "../graph/drawing";
import { sizeOf } from "../graph/geometry";
import { t } from "../ui/i18n";

export type OperatorFlowNode = Node<{ node: DocumentNode }, "operator" | "store">;
/** The frame around an open group, or the box that stands for a collapsed one. */
export type GroupFlowNode = Node<{ frame: Frame; group: Group }, "frame" | "group">;
export type NoteFlowNode = Node<{ note: Note }, "note">;
export type FlowNode = OperatorFlowNode | GroupFlowNode | NoteFlowNode;
export type FlowEdge = Edge<{ edge: DocumentEdge; index: number; store: boolean }, "record">;

const NOTE = "note:";
const GROUP = "group:";

/** The ids of groups and notes on the canvas, which no node of a document can have. */
export const noteFlowId = (id: string) => `${NOTE}${id}`;
export const groupFlowId = (id: string) => `${GROUP}${id}`;

/** The ids of documents' nodes and notes among those of the canvas. A frame is passed over: its nodes count. */
export function chosenOf(nodes: readonly FlowNode[]): { nodes: string[]; notes: string[] } {
  const found = new Set<string>();
  const notes: string[] = [];
  for (const node of nodes) {
    if (node.hidden === true) continue;
    if (node.type === "note") notes.push(node.data.note.id);
    else if (node.type === "group") for (const id of node.data.frame.nodes) found.add(id);
    else if (node.type !== "frame") found.add(node.id);
  }
  return { nodes: [...found], notes };
}

export function isOperator(node: FlowNode): node is OperatorFlowNode {
  return node.type === "operator" || node.type === "store";
}

export function flowNodes(
  document: TopologyDocument,
  catalog: Catalog,
  selected: ReadonlySet<string>,
  before: readonly FlowNode[],
  readOnly: boolean,
  hidden: Folded["hidden"],
): OperatorFlowNode[] {
  const old = new Map(before.filter(isOperator).map((node) => [node.id, node]));
  return document.nodes.map((node) => {
    const last = old.get(node.id);
    const isSelected = selected.has(node.id);
    const isHidden = hidden.has(node.id);
    if (
      last !== undefined &&
      last.data.node === node &&
      last.draggable === !readOnly &&
      (last.hidden ?? false) === isHidden
    ) {
      return last.selected === isSelected ? last : { ...last, selected: isSelected };
    }
    const size = sizeOf(catalog, node);
    return {
      ...last,
      id: node.id,
      type: isStoreKind(node.kind) ? ("store" as const) : ("operator" as const),
      position: positionOf(node),
      width: size.width,
      height: size.height,
      data: { node },
      selected: isSelected,
      draggable: !readOnly,
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
    if (last?.type === "note" && last.data.note === note && last.draggable === !readOnly) {
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
      draggable: !readOnly,
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

export function flowGroups(
  { frames }: Folded,
  selected: ReadonlySet<string>,
  readOnly: boolean,
): GroupFlowNode[] {
  return frames.map((frame) => {
    const { x, y, ...size } = frame.box;
    return {
      id: groupFlowId(frame.group.id),
      type: frame.collapsed ? "group" : "frame",
      position: { x, y },
      ...size,
      measured: size,
      data: { frame, group: frame.group },
      selected: frame.nodes.length > 0 && frame.nodes.every((id) => selected.has(id)),
      draggable: !readOnly,
      selectable: frame.collapsed,
      connectable: false,
      focusable: frame.collapsed,
      zIndex: frame.collapsed ? 0 : frame.depth - 20,
      ...(frame.collapsed
        ? { handles: handlesOf(frame.ports) }
        : // Nodes and wires inside are reached through it; only its head receives the pointer.
          { dragHandle: ".frame-head", style: { pointerEvents: "none" as const } }),
      ariaLabel: t("Group {title}, {n} {n, plural, one {node} other {nodes}}", {
        title: frame.group.title ?? frame.group.id,
        n: frame.nodes.length,
      }),
    };
  });
}

export function flowEdges(
  document: TopologyDocument,
  selected: ReadonlySet<string>,
  before: readonly FlowEdge[],
  hidden: Folded["hidden"],
): FlowEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const labels = new Map(document.nodes.map((node) => [node.id, node.label ?? node.id]));
  const seen = new Set<string>();
  return document.edges.flatMap((edge, index) => {
    const id = edgeId(edge);
    if (seen.has(id)) return [];
    seen.add(id);
    const from = hidden.get(edge.source);
    const to = hidden.get(edge.target);
    if (from !== undefined && from === to) return [];
    const source = from === undefined ? edge.source : groupFlowId(from.group.id);
    const target = to === undefined ? edge.target : groupFlowId(to.group.id);
    const isSelected = selected.has(id);
    const last = old.get(id);
    const ariaLabel = `${labels.get(edge.source)} → ${labels.get(edge.target)}`;
    if (
      last !== undefined &&
      last.data?.edge === edge &&
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
        ...(from === undefined && to === undefined ? {} : { reconnectable: false }),
        data: { edge, index, store },
        selected: isSelected,
        ariaLabel,
      },
    ];
  });
}
