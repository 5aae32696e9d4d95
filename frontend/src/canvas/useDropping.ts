/** Moved nodes and kinds dropped from the palette. Both may be inserted into a wire. */

import type { ReactFlowInstance } from "@xyflow/react";
import { useCallback } from "react";
import { addKind } from "../commands/addNode";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { insertOnEdge, makeRoom, moveNodes } from "../graph/changes";
import { fitsOnEdge } from "../graph/connect";
import { edgeId } from "../graph/document";
import { t } from "../ui/i18n";
import { KIND_MIME, lightWire, wireAt } from "./drag";
import type { FlowEdge, FlowNode } from "./flow";

function onSelectionDragStop(_event: React.MouseEvent, dragged: FlowNode[]) {
  const positions = new Map(dragged.map((each) => [each.id, each.position]));
  useDesigner
    .getState()
    .change(t("Move {n} {n|node|nodes}", { n: dragged.length }), (now) =>
      moveNodes(now, positions),
    );
}

function onDragLeave() {
  lightWire(null);
}

export function useDropping(flow: ReactFlowInstance<FlowNode, FlowEdge>) {
  const onNodeDrag = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: FlowNode, dragged: FlowNode[]) => {
      if (dragged.length !== 1 || !("clientX" in event)) return;
      const state = useDesigner.getState();
      const alone = !state.document.edges.some(
        (edge) => edge.source === node.id || edge.target === node.id,
      );
      const wire = alone ? wireAt(event.clientX, event.clientY, node.id) : null;
      const edge = state.document.edges.find((candidate) => edgeId(candidate) === wire);
      const fit =
        edge !== undefined &&
        state.catalog !== null &&
        fitsOnEdge(state.document, state.catalog, knownRoles(state), node.data.node.kind, edge);
      lightWire(fit ? wire : null);
    },
    [],
  );
  const onNodeDragStop = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: FlowNode, dragged: FlowNode[]) => {
      lightWire(null);
      const state = useDesigner.getState();
      const { catalog } = state;
      const positions = new Map(dragged.map((each) => [each.id, each.position]));
      const alone =
        dragged.length === 1 &&
        !state.document.edges.some((edge) => edge.source === node.id || edge.target === node.id);
      const wire =
        alone && "clientX" in event ? wireAt(event.clientX, event.clientY, node.id) : null;
      const edge = state.document.edges.find((candidate) => edgeId(candidate) === wire);
      state.change(t("Move {n} {n|node|nodes}", { n: dragged.length }), (before) => {
        const now = moveNodes(before, positions);
        if (edge === undefined || catalog === null) return now;
        if (!fitsOnEdge(now, catalog, knownRoles(state), node.data.node.kind, edge)) return now;
        const joined = insertOnEdge(now, catalog, knownRoles(state), edge, node.id);
        return makeRoom(joined, catalog, node.id);
      });
    },
    [],
  );

  const onDragOver = useCallback((event: React.DragEvent) => {
    if (!event.dataTransfer.types.includes(KIND_MIME)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    lightWire(wireAt(event.clientX, event.clientY));
  }, []);
  const onDrop = useCallback(
    (event: React.DragEvent) => {
      const kind = event.dataTransfer.getData(KIND_MIME);
      lightWire(null);
      if (kind === "") return;
      event.preventDefault();
      const wire = wireAt(event.clientX, event.clientY);
      addKind(kind, {
        at: flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }),
        ...(wire === null ? {} : { edge: wire }),
      });
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    },
    [flow],
  );
  return {
    moved: { onNodeDrag, onNodeDragStop, onSelectionDragStop },
    dropped: { onDragOver, onDragLeave, onDrop },
  };
}
