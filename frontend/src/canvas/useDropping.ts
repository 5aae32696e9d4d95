/** Moved nodes and kinds dropped from the palette. Both may be inserted into a wire. */

import type { ReactFlowInstance } from "@xyflow/react";
import { useCallback } from "react";
import { addKind } from "../commands/addNode";
import { knownRoles } from "../designer/derived";
import { drawnOf, foldedOf } from "../designer/drawn";
import { inDocument, useDesigner } from "../designer/store";
import { insertOnEdge, makeRoom, moveNodes } from "../graph/changes";
import { fitsOnEdge } from "../graph/connect";
import { edgeId, type Position, type TopologyDocument } from "../graph/document";
import { fragmentAround, fragmentOfGroup, groupOf, moveNotes, setGroupOf } from "../graph/drawing";
import { t } from "../ui/i18n";
import { KIND_MIME, lightWire, wireAt } from "./drag";
import { type FlowEdge, type FlowNode, isOperator, type OperatorFlowNode } from "./flow";

type Flow = ReactFlowInstance<FlowNode, FlowEdge>;

/** Where a gesture has brought nodes and notes. Groups follow their nodes. */
function placesOf(dragged: readonly FlowNode[], flow: Flow) {
  const nodes = new Map<string, Position>();
  const notes = new Map<string, Position>();
  for (const each of dragged) {
    if (each.type === "note") notes.set(each.data.note.id, each.position);
    else if (isOperator(each)) nodes.set(each.id, each.position);
    else {
      for (const id of each.data.frame.nodes) {
        const member = flow.getNode(id);
        if (member !== undefined) nodes.set(id, member.position);
      }
    }
  }
  const drawn = drawnOf(useDesigner.getState());
  const [places, noted] = [drawn.settled(nodes), drawn.settled(notes)];
  const label =
    nodes.size > 0
      ? t("Move {n} {n, plural, one {node} other {nodes}}", { n: places.size })
      : t("Move {n} {n, plural, one {note} other {notes}}", { n: notes.size });
  const move = (document: TopologyDocument) => moveNotes(moveNodes(document, places), noted);
  return { label, move };
}

/** The innermost open group whose frame is under the middle of a node that was in no group. */
function groupUnder(node: OperatorFlowNode): string | undefined {
  const state = useDesigner.getState();
  if (groupOf(state.document, node.id) !== undefined) return undefined;
  const x = node.position.x + (node.width ?? 0) / 2;
  const y = node.position.y + (node.height ?? 0) / 2;
  return foldedOf(state)
    .frames.filter(({ box, collapsed, group }) => {
      const inside = x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
      const own = fragmentOfGroup(group) === null && fragmentAround(group.id) === null;
      return inside && !collapsed && own;
    })
    .at(-1)?.group.id;
}

function onDragLeave() {
  lightWire(null);
}

export function useDropping(flow: Flow) {
  const onSelectionDragStop = useCallback(
    (_event: React.MouseEvent, dragged: FlowNode[]) => {
      const { label, move } = placesOf(dragged, flow);
      useDesigner.getState().change(label, move);
    },
    [flow],
  );
  const onNodeDrag = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: FlowNode, dragged: FlowNode[]) => {
      if (dragged.length !== 1 || !("clientX" in event) || !isOperator(node)) return;
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
      const { label, move } = placesOf(dragged, flow);
      if (!isOperator(node)) {
        state.change(label, move);
        return;
      }
      const alone =
        dragged.length === 1 &&
        !state.document.edges.some((edge) => edge.source === node.id || edge.target === node.id);
      const wire =
        alone && "clientX" in event ? wireAt(event.clientX, event.clientY, node.id) : null;
      const edge = state.document.edges.find((candidate) => edgeId(candidate) === wire);
      const into = dragged.length === 1 ? groupUnder(node) : undefined;
      state.change(label, (before) => {
        const moved = move(before);
        const now = into === undefined ? moved : setGroupOf(moved, node.id, into);
        if (edge === undefined || catalog === null) return now;
        if (!fitsOnEdge(now, catalog, knownRoles(state), node.data.node.kind, edge)) return now;
        const joined = insertOnEdge(now, catalog, knownRoles(state), edge, node.id);
        return makeRoom(joined, catalog, node.id);
      });
    },
    [flow],
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
        at: inDocument(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })),
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
