/** React Flow's nodes and edges: those of the document, with the intermediate changes of a gesture. */

import {
  applyEdgeChanges,
  applyNodeChanges,
  type EdgeChange,
  type NodeChange,
  useStoreApi,
} from "@xyflow/react";
import { useCallback, useEffect, useState } from "react";
import { useDesigner } from "../designer/store";
import { type FlowEdge, type FlowNode, flowEdges, flowNodes } from "./flow";

export function useFlow() {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const selection = useDesigner((state) => state.selection);
  const readOnly = useDesigner((state) => state.readOnly);
  const flowStore = useStoreApi();
  const [nodes, setNodes] = useState<FlowNode[]>([]);
  const [edges, setEdges] = useState<FlowEdge[]>([]);
  useEffect(() => {
    if (catalog === null) return;
    const chosen = new Set(selection.nodes);
    setNodes((before) => {
      // The box of a selection made with the mouse is hidden once something else is selected.
      const drawn = before.filter((node) => node.selected === true);
      if (drawn.length !== chosen.size || drawn.some((node) => !chosen.has(node.id))) {
        queueMicrotask(() => flowStore.setState({ nodesSelectionActive: false }));
      }
      return flowNodes(document, catalog, chosen, before, readOnly);
    });
  }, [document, catalog, selection.nodes, readOnly, flowStore]);
  useEffect(() => {
    setEdges((before) => flowEdges(document, new Set(selection.edges), before));
  }, [document, selection.edges]);
  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const kept = changes.filter((change) => change.type !== "remove");
    setNodes((now) => applyNodeChanges(kept, now));
  }, []);
  const onEdgesChange = useCallback((changes: EdgeChange<FlowEdge>[]) => {
    const kept = changes.filter((change) => change.type !== "remove");
    setEdges((now) => applyEdgeChanges(kept, now));
  }, []);
  return { nodes, setNodes, edges, onNodesChange, onEdgesChange };
}
