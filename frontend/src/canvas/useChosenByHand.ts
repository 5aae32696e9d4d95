/** What people select on the canvas becomes the selection of the designer. */

import type { EdgeChange, NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useRef } from "react";
import { useDesigner } from "../designer/store";
import { edgeId } from "../graph/document";
import { chosenOf, type FlowEdge, type FlowNode } from "./flow";

/**
 * React Flow reports each selection that it sees, also one that the designer made, and that one late: while its nodes
 * still show the selection before. Only what was selected by hand since then is taken, or both would follow each other.
 */
export function useChosenByHand() {
  const selection = useDesigner((state) => state.selection);
  const byHand = useRef(false);
  const taken = useRef<object | null>(null);
  useEffect(() => {
    if (selection !== taken.current) byHand.current = false;
  }, [selection]);

  const noteChanges = useCallback(
    (changes: readonly NodeChange<FlowNode>[] | readonly EdgeChange<FlowEdge>[]) => {
      byHand.current ||= changes.some(({ type }) => type === "select");
    },
    [],
  );
  const onSelectionChange = useCallback((chosen: { nodes: FlowNode[]; edges: FlowEdge[] }) => {
    if (!byHand.current) return;
    useDesigner.getState().select({
      ...chosenOf(chosen.nodes),
      edges: chosen.edges.map(({ data, id }) => (data === undefined ? id : edgeId(data.own))),
    });
    taken.current = useDesigner.getState().selection;
  }, []);
  return { noteChanges, onSelectionChange };
}
