/** Pulling wires from a port to a port, a node or the empty canvas, and moving their ends. */

import type { Connection, FinalConnectionState } from "@xyflow/react";
import { useCallback, useRef } from "react";
import type { AddRequest } from "../designer/canvasApi";
import { knownRoles } from "../designer/derived";
import { drawnOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { connect, reconnect } from "../graph/changes";
import { firstFit, firstSource, refusal } from "../graph/connect";
import { type DocumentEdge, findNode } from "../graph/document";
import { OPENED } from "../graph/drawing";
import { t } from "../ui/i18n";
import { type FlowEdge, groupFlowId } from "./flow";

function addressOf(connection: Connection) {
  return {
    from: { node: connection.source, port: connection.sourceHandle ?? "out" },
    to: { node: connection.target, port: connection.targetHandle ?? "in" },
  };
}

function onReconnect(edge: FlowEdge, connection: Connection) {
  const old = edge.data?.edge;
  if (old === undefined) return;
  const { from, to } = addressOf(connection);
  useDesigner.getState().change(t("Reconnect"), (now) => reconnect(now, old, from, to), {
    select: { nodes: [], edges: [] },
  });
}

/** The node of the document for a node or frame of the canvas: a fragment for its frame and what is in it. */
function ofDocument(id: string): string {
  const { owners } = drawnOf(useDesigner.getState());
  const frame = groupFlowId(OPENED);
  const node = id.startsWith(frame) ? id.slice(frame.length) : id;
  return owners.get(node) ?? node;
}

/** @param openAddMenu opens the menu if a wire is dropped on the empty canvas. */
export function useWiring(openAddMenu: (request: AddRequest) => void) {
  const moving = useRef<DocumentEdge | null>(null);
  const isValid = useCallback((connection: Connection | FlowEdge) => {
    const state = useDesigner.getState();
    if (state.catalog === null || state.readOnly) return false;
    const { from, to } = addressOf(connection as Connection);
    const moved = moving.current ?? undefined;
    return refusal(state.document, state.catalog, knownRoles(state), from, to, moved) === null;
  }, []);
  const onConnect = useCallback((connection: Connection) => {
    const { from, to } = addressOf(connection);
    useDesigner.getState().change(t("Connect"), (document) => connect(document, from, to));
  }, []);
  /** A wire dropped on a node connects to the first port that fits; on the empty canvas, the menu opens. */
  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, connection: FinalConnectionState) => {
      if (connection.isValid === true || connection.fromHandle === null) return;
      if (moving.current !== null || connection.toHandle !== null) return;
      const state = useDesigner.getState();
      const { catalog, document } = state;
      if (catalog === null) return;
      const at = "changedTouches" in event ? event.changedTouches[0] : event;
      if (at === undefined) return;
      const { fromHandle } = connection;
      const here = { node: fromHandle.nodeId, port: fromHandle.id ?? "out" };
      const forward = fromHandle.type === "source";
      const under = globalThis.document
        .elementsFromPoint(at.clientX, at.clientY)
        .map((element) => element.closest<HTMLElement>(".react-flow__node")?.dataset.id)
        .map((id) => id && ofDocument(id))
        .find((id) => id !== undefined && findNode(document, id) !== undefined);
      if (under !== undefined) {
        if (under === here.node) return;
        const other = forward
          ? firstFit(document, catalog, knownRoles(state), here, under)
          : firstSource(document, catalog, knownRoles(state), under, here);
        if (other === null) return;
        state.change(t("Connect"), (now) =>
          forward ? connect(now, here, other) : connect(now, other, here),
        );
        return;
      }
      openAddMenu({
        screen: { x: at.clientX, y: at.clientY },
        ...(forward ? { from: here } : { to: here }),
      });
    },
    [openAddMenu],
  );

  const onReconnectStart = useCallback((_event: React.MouseEvent, edge: FlowEdge) => {
    moving.current = edge.data?.edge ?? null;
  }, []);
  const onReconnectEnd = useCallback(() => {
    moving.current = null;
  }, []);
  return {
    isValidConnection: isValid,
    onConnect,
    onConnectEnd,
    onReconnect,
    onReconnectStart,
    onReconnectEnd,
  };
}
