/** React Flow's nodes and edges: those of the document, with the intermediate changes of a gesture. */

import {
  applyEdgeChanges,
  applyNodeChanges,
  type EdgeChange,
  type NodeChange,
  useStoreApi,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { foldedOf, useDesigner } from "../designer/store";
import { folded, groupsOf } from "../graph/drawing";
import {
  type FlowEdge,
  type FlowNode,
  flowEdges,
  flowGroups,
  flowNodes,
  flowNotes,
  isOperator,
} from "./flow";

const NO_GROUPS: FlowNode[] = [];

/** Drawn groups, from where their nodes are at this moment. */
function useGroups(nodes: readonly FlowNode[]): FlowNode[] {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const folds = useDesigner((state) => state.folds);
  const chosen = useDesigner((state) => state.selection.nodes);
  const readOnly = useDesigner((state) => state.readOnly);
  return useMemo(() => {
    if (catalog === null || groupsOf(document).length === 0) return NO_GROUPS;
    const places = new Map(nodes.filter(isOperator).map((node) => [node.id, node.position]));
    const now = folded(document, catalog, folds, (node) => places.get(node.id) ?? { x: 0, y: 0 });
    return flowGroups(now, new Set(chosen), readOnly);
  }, [nodes, document, catalog, folds, chosen, readOnly]);
}

export function useFlow() {
  const document = useDesigner((state) => state.document);
  const catalog = useDesigner((state) => state.catalog);
  const selection = useDesigner((state) => state.selection);
  const readOnly = useDesigner((state) => state.readOnly);
  const { hidden } = useDesigner(foldedOf);
  const flowStore = useStoreApi();
  const [nodes, setNodes] = useState<FlowNode[]>([]);
  const [edges, setEdges] = useState<FlowEdge[]>([]);
  useEffect(() => {
    if (catalog === null) return;
    const chosen = new Set(selection.nodes);
    const notes = new Set(selection.notes);
    setNodes((before) => {
      // The box of a selection made with the mouse is hidden once something else is selected.
      const drawn = before.filter((node) => isOperator(node) && node.selected === true);
      if (drawn.length !== chosen.size || drawn.some((node) => !chosen.has(node.id))) {
        queueMicrotask(() => flowStore.setState({ nodesSelectionActive: false }));
      }
      return [
        ...flowNotes(document, notes, before, readOnly),
        ...flowNodes(document, catalog, chosen, before, readOnly, hidden),
      ];
    });
  }, [document, catalog, selection.nodes, selection.notes, readOnly, hidden, flowStore]);
  useEffect(() => {
    setEdges((before) => flowEdges(document, new Set(selection.edges), before, hidden));
  }, [document, selection.edges, hidden]);
  const groups = useGroups(nodes);
  const shown = useMemo(
    () => (groups.length === 0 ? nodes : [...groups, ...nodes]),
    [groups, nodes],
  );
  const onNodesChange = useCallback((changes: NodeChange<FlowNode>[]) => {
    const kept = changes.filter((change) => change.type !== "remove");
    setNodes((now) => applyNodeChanges(kept, now));
  }, []);
  const onEdgesChange = useCallback((changes: EdgeChange<FlowEdge>[]) => {
    const kept = changes.filter((change) => change.type !== "remove");
    setEdges((now) => applyEdgeChanges(kept, now));
  }, []);
  return { nodes: shown, setNodes, edges, onNodesChange, onEdgesChange };
}
