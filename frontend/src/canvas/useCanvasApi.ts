/** The canvas operations for commands and panels: revealing nodes, moving the viewport. */

import type { ReactFlowInstance } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import { type CanvasApi, setCanvas } from "../designer/canvasApi";
import { useDesigner } from "../designer/store";
import type { FlowEdge, FlowNode } from "./flow";

const FIT = {
  padding: { top: "64px", right: "40px", bottom: "64px", left: "40px" },
  maxZoom: 1,
  minZoom: 0.15,
} as const;
/** If a topology would have to be zoomed below this to fit, it opens at its sources instead. */
const LEGIBLE = 0.35;
const OPENING = 0.5;

/** Shows a newly opened topology: all of it or, if that would be illegible, its upper left part. */
function open(flow: ReactFlowInstance<FlowNode, FlowEdge>, area: DOMRect) {
  const around = flow.getNodesBounds(flow.getNodes());
  const room = { width: area.width - 80, height: area.height - 128 };
  if (Math.min(room.width / around.width, room.height / around.height) >= LEGIBLE) {
    void flow.fitView(FIT);
    return;
  }
  const spare = Math.max(0, room.height - around.height * OPENING);
  void flow.setViewport({
    x: 40 - around.x * OPENING,
    y: 64 + spare / 2 - around.y * OPENING,
    zoom: OPENING,
  });
}

/** Operations that the hook cannot implement with only the canvas element and React Flow. */
type Given = Pick<CanvasApi, "glide" | "openAddMenu">;

/** The pointer's position on the screen; null if it is not over the canvas. */
export type Pointer = { x: number; y: number } | null;

export function useCanvasApi(
  flow: ReactFlowInstance<FlowNode, FlowEdge>,
  box: RefObject<HTMLDivElement | null>,
  pointer: RefObject<Pointer>,
  { glide, openAddMenu }: Given,
) {
  useEffect(() => {
    setCanvas({
      fit: (only) =>
        void flow.fitView({
          ...FIT,
          duration: 160,
          ...(only === undefined ? {} : { nodes: only.map((id) => ({ id })) }),
        }),
      zoomBy: (factor) => void flow.zoomTo(flow.getZoom() * factor, { duration: 120 }),
      zoomTo: (level) => void flow.zoomTo(level, { duration: 120 }),
      reveal: (id) => {
        const node = flow.getNode(id);
        const area = box.current?.getBoundingClientRect();
        if (node === undefined || area === undefined) return;
        const middle = {
          x: node.position.x + (node.width ?? 0) / 2,
          y: node.position.y + (node.height ?? 0) / 2,
        };
        const seen = flow.flowToScreenPosition(middle);
        const margin = 90;
        const inside =
          seen.x > area.left + margin &&
          seen.x < area.right - margin &&
          seen.y > area.top + margin &&
          seen.y < area.bottom - margin;
        if (!inside)
          void flow.setCenter(middle.x, middle.y, {
            zoom: Math.max(flow.getZoom(), 0.7),
            duration: 160,
          });
      },
      focusNode: (id) =>
        box.current
          ?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
          ?.focus({ preventScroll: true }),
      toDocument: (screen) => flow.screenToFlowPosition(screen),
      pointer: () => (pointer.current === null ? null : flow.screenToFlowPosition(pointer.current)),
      centre: () => {
        const area = box.current?.getBoundingClientRect();
        return area === undefined
          ? { x: 0, y: 0 }
          : flow.screenToFlowPosition({
              x: area.left + area.width / 2,
              y: area.top + area.height / 2,
            });
      },
      glide,
      openAddMenu,
      element: () => box.current ?? document.body,
    });
    return () => setCanvas(null);
  }, [flow, box, pointer, glide, openAddMenu]);
}

/** Shows a topology when it is opened, and a node when a panel or command goes to it. */
export function useViewport(
  flow: ReactFlowInstance<FlowNode, FlowEdge>,
  box: RefObject<HTMLDivElement | null>,
  drawn: number,
) {
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
    requestAnimationFrame(() => {
      const area = box.current?.getBoundingClientRect();
      if (area !== undefined) open(flow, area);
    });
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
    const { node: wanted } = focus;
    const frame = requestAnimationFrame(() => {
      const node = flow.getNode(wanted);
      const area = box.current?.getBoundingClientRect();
      if (node === undefined || area === undefined) return;
      const seen = flow.flowToScreenPosition(node.position);
      const inside =
        seen.x > area.left + 20 &&
        seen.y > area.top + 20 &&
        seen.x < area.right - 200 &&
        seen.y < area.bottom - 80;
      if (!inside) {
        void flow.setCenter(node.position.x + 108, node.position.y + 28, {
          zoom: Math.max(flow.getZoom(), 0.8),
          duration: 160,
        });
      }
    });
    return () => cancelAnimationFrame(frame);
  }, [focus, flow, box]);
}
