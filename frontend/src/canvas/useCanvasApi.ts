/** The canvas operations for commands and panels: revealing nodes, moving the viewport. */

import type { ReactFlowInstance } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import { type CanvasApi, setCanvas } from "../designer/canvasApi";
import { foldedOf } from "../designer/drawn";
import { useRuntime } from "../designer/runtime";
import { inDocument, useDesigner } from "../designer/store";
import { type FlowEdge, type FlowNode, groupFlowId } from "./flow";
import { type Areas, areasOf, centredOn, fitted, isInside } from "./visible";

type Flow = ReactFlowInstance<FlowNode, FlowEdge>;

/** Fills the visible part of the canvas with these nodes, by default with all of them. */
function fill(flow: Flow, areas: Areas, only?: readonly string[], duration = 160) {
  const ids = only && new Set(only);
  const shown = flow.getNodes().filter((node) => !node.hidden && (ids?.has(node.id) ?? true));
  if (shown.length === 0) return;
  const boxes = shown.map((node) => flow.getNodesBounds([node]));
  void flow.setViewport(fitted(areas, flow.getNodesBounds(shown), boxes), { duration });
}
/** If a topology would have to be zoomed below this to fit, it opens at its sources instead. */
const LEGIBLE = 0.35;
const OPENING = 0.56;

/** Shows a newly opened topology: all of it or, if that would be illegible, its upper left part. */
function open(flow: Flow, areas: Areas) {
  const { all, seen } = areas;
  const around = flow.getNodesBounds(flow.getNodes());
  const room = { width: seen.right - seen.left - 80, height: seen.bottom - seen.top - 128 };
  if (Math.min(room.width / around.width, room.height / around.height) >= LEGIBLE) {
    fill(flow, areas, undefined, 0);
    return;
  }
  const spare = Math.max(0, room.height - around.height * OPENING);
  void flow.setViewport({
    x: 40 - around.x * OPENING,
    y: seen.top - all.top + 64 + spare / 2 - around.y * OPENING,
    zoom: OPENING,
  });
}

/** Moves a node to the middle of the visible part if it is not all in it; keeps the zoom if the node is legible. */
function reveal(flow: Flow, box: HTMLElement | null, id: string) {
  const hiding = foldedOf(useDesigner.getState()).hidden.get(id);
  const node = flow.getNode(hiding === undefined ? id : groupFlowId(hiding.group.id));
  const areas = areasOf(box);
  if (node === undefined || areas === null) return;
  const width = node.measured?.width ?? node.width ?? 0;
  const height = node.measured?.height ?? node.height ?? 0;
  const middle = { x: node.position.x + width / 2, y: node.position.y + height / 2 };
  const { all, seen } = areas;
  const across = Math.min((width * flow.getZoom()) / 2 + 16, (seen.right - seen.left) / 3);
  const down = Math.min(90, (seen.bottom - seen.top) / 4);
  const margins = { left: across, right: across, top: down, bottom: down };
  if (isInside(flow.flowToScreenPosition(middle), seen, margins)) return;
  const zoom = Math.max(flow.getZoom(), 0.7);
  void flow.setViewport(centredOn(middle, zoom, all, seen), { duration: 160 });
}

/** Whether all of a node is in the visible part. */
function isContained(flow: Flow, { seen }: Areas, id: string): boolean {
  const node = flow.getNode(id);
  if (node === undefined) return true;
  const { x, y } = node.position;
  const { height = 0, width = 0 } = node.measured ?? {};
  const corners = [node.position, { x: x + width, y: y + height }];
  return corners.every((each) => isInside(flow.flowToScreenPosition(each), seen, NO_MARGINS));
}

const NO_MARGINS = { left: 0, right: 0, top: 0, bottom: 0 };

/** The nodes of the canvas that stand for nodes of the document: collapsed groups for those inside. */
function shownFor(nodes: readonly string[]): string[] {
  const { hidden } = foldedOf(useDesigner.getState());
  const shown = nodes.map((id) => {
    const hiding = hidden.get(id);
    return hiding === undefined ? id : groupFlowId(hiding.group.id);
  });
  return [...new Set(shown)];
}

/** Operations that the hook cannot implement with only the canvas element and React Flow. */
type Given = Pick<CanvasApi, "glide" | "openAddMenu">;

/** The pointer's position on the screen; null if it is not over the canvas. */
export type Pointer = { x: number; y: number } | null;

export function useCanvasApi(
  flow: Flow,
  box: RefObject<HTMLDivElement | null>,
  pointer: RefObject<Pointer>,
  { glide, openAddMenu }: Given,
) {
  useEffect(() => {
    setCanvas({
      fit: (only) => {
        const areas = areasOf(box.current);
        if (areas !== null) fill(flow, areas, only && shownFor(only));
      },
      contain: (id) => {
        const areas = areasOf(box.current);
        const [shown = id] = shownFor([id]);
        if (areas === null || isContained(flow, areas, shown)) return;
        fill(flow, areas, [shown]);
      },
      zoomBy: (factor) => void flow.zoomTo(flow.getZoom() * factor, { duration: 120 }),
      zoomTo: (level) => void flow.zoomTo(level, { duration: 120 }),
      reveal: (id) => reveal(flow, box.current, id),
      focusNode: (id) =>
        box.current
          ?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
          ?.focus({ preventScroll: true }),
      toDocument: (screen) => inDocument(flow.screenToFlowPosition(screen)),
      pointer: () =>
        pointer.current === null ? null : inDocument(flow.screenToFlowPosition(pointer.current)),
      centre: () => {
        const area = box.current?.getBoundingClientRect();
        return area === undefined
          ? { x: 0, y: 0 }
          : inDocument(
              flow.screenToFlowPosition({
                x: area.left + area.width / 2,
                y: area.top + area.height / 2,
              }),
            );
      },
      glide,
      openAddMenu,
      element: () => box.current ?? document.body,
    });
    return () => setCanvas(null);
  }, [flow, box, pointer, glide, openAddMenu]);
}

/** Shows a topology when it is opened, and a node when a panel or command goes to it. */
export function useViewport(flow: Flow, box: RefObject<HTMLDivElement | null>, drawn: number) {
  const topologyId = useDesigner((state) => state.topologyId);
  const focus = useDesigner((state) => state.focusRequest);
  // A newly opened topology is fitted into view once its nodes have been measured. One that was
  // empty is not, because its first node would move away from where it was dropped.
  const fitted = useRef<number | null>(null);
  // React Flow passes a new instance once it has measured its box; this is not a remount.
  const latest = useRef(flow);
  latest.current = flow;
  useEffect(() => {
    const { document, viewport } = useDesigner.getState();
    if (viewport !== null) void latest.current.setViewport(viewport);
    if (viewport !== null || document.nodes.length === 0) fitted.current = topologyId;
    return () => {
      // The canvas is remounted, for example in another language, while the topology stays open.
      if (useDesigner.getState().topologyId === topologyId && fitted.current === topologyId)
        useDesigner.setState({ viewport: latest.current.getViewport() });
    };
  }, [topologyId]);
  useEffect(() => {
    if (topologyId === null || fitted.current === topologyId || drawn === 0) return;
    fitted.current = topologyId;
    // Before the first picture: other nodes would be drawn with it, and these after it.
    const areas = areasOf(box.current);
    if (areas !== null) open(flow, areas);
  }, [topologyId, drawn, flow, box]);

  // When a panel beside the canvas opens or closes, the middle of the view stays in the middle.
  useEffect(() => {
    let before: { width: number; height: number } | null = null;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      if (before !== null && (before.width !== width || before.height !== height)) {
        const { x, y, zoom } = flow.getViewport();
        const moved = { x: (width - before.width) / 2, y: (height - before.height) / 2 };
        void flow.setViewport({ x: x + moved.x, y: y + moved.y, zoom });
      }
      before = { width, height };
    });
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, [flow, box]);

  useEffect(() => {
    if (focus === null || focus.node === null) return;
    const { node } = focus;
    const frame = requestAnimationFrame(() => reveal(flow, box.current, node));
    return () => cancelAnimationFrame(frame);
  }, [focus, flow, box]);

  useFailedNode(latest, box, drawn > 0);
}

/** Moves the failed node out from under the message about it, whenever one of the two appears. */
function useFailedNode(
  flow: RefObject<Flow>,
  box: RefObject<HTMLDivElement | null>,
  drawn: boolean,
) {
  const failed = useRuntime((state) => state.failed?.node ?? null);
  useEffect(() => {
    const messages = box.current?.querySelector(":scope > .canvas-messages");
    if (failed === null || !drawn || messages == null) return;
    let height = 0;
    // It reports the first height as well. The view of a topology that is being opened is set before.
    const observer = new ResizeObserver(([entry]) => {
      const now = entry?.contentRect.height ?? 0;
      if (now > height) setTimeout(() => reveal(flow.current, box.current, failed), 200);
      height = now;
    });
    observer.observe(messages);
    return () => observer.disconnect();
  }, [failed, drawn, flow, box]);
}
