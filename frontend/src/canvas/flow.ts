/** Converts the document to React Flow's nodes and edges, reusing every object that did not change. */

import type { Edge, Node } from "@xyflow/react";
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
import { sizeOf } from "../graph/geometry";

export type FlowNode = Node<{ node: DocumentNode }, "operator" | "store">;
export type FlowEdge = Edge<{ edge: DocumentEdge; index: number; store: boolean }, "record">;

export function flowNodes(
  document: TopologyDocument,
  catalog: Catalog,
  selected: ReadonlySet<string>,
  before: readonly FlowNode[],
  readOnly: boolean,
): FlowNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  return document.nodes.map((node) => {
    const last = old.get(node.id);
    const isSelected = selected.has(node.id);
    if (last !== undefined && last.data.node === node && last.draggable === !readOnly) {
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
      ariaLabel: `${labelOf(node)}, ${kindOf(catalog, node.kind)?.title ?? node.kind}`,
    };
  });
}

export function flowEdges(
  document: TopologyDocument,
  selected: ReadonlySet<string>,
  before: readonly FlowEdge[],
): FlowEdge[] {
  const old = new Map(before.map((edge) => [edge.id, edge]));
  const labels = new Map(document.nodes.map((node) => [node.id, node.label ?? node.id]));
  const seen = new Set<string>();
  return document.edges.flatMap((edge, index) => {
    const id = edgeId(edge);
    if (seen.has(id)) return [];
    seen.add(id);
    const isSelected = selected.has(id);
    const last = old.get(id);
    const ariaLabel = `${labels.get(edge.source)} → ${labels.get(edge.target)}`;
    if (
      last !== undefined &&
      last.data?.edge === edge &&
      last.data.index === index &&
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
        source: edge.source,
        target: edge.target,
        sourceHandle: sourcePort(edge),
        targetHandle: targetPort(edge),
        data: { edge, index, store },
        selected: isSelected,
        ariaLabel,
      },
    ];
  });
}
