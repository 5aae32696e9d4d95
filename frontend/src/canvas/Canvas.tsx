import "@xyflow/react/dist/base.css";
import "./canvas.css";
import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type Connection,
  ConnectionLineType,
  type EdgeChange,
  type FinalConnectionState,
  type NodeChange,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { addKind } from "../commands/addNode";
import { type AddRequest, setCanvas } from "../designer/canvasApi";
import { knownRoles } from "../designer/derived";
import { useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { connect, insertOnEdge, makeRoom, moveNodes, reconnect } from "../graph/changes";
import { firstFit, firstSource, fitsOnEdge, refusal } from "../graph/connect";
import { type DocumentEdge, edgeId, type Position } from "../graph/document";
import { GRID } from "../graph/geometry";
import { AddMenu } from "./AddMenu";
import { ConnectionHint } from "./ConnectionHint";
import { ContextMenu, type ContextPlace } from "./ContextMenu";
import { KIND_MIME, lightWire, wireAt } from "./drag";
import { EmptyCanvas, LayerSwitch, Tools } from "./Floating";
import { type FlowEdge, type FlowNode, flowEdges, flowNodes } from "./flow";
import { OperatorNode } from "./OperatorNode";
import { PlanAreas } from "./PlanAreas";
import { RecordEdge } from "./RecordEdge";
import { StoreNode } from "./StoreNode";
import { t } from "./texts";
import { useGlide } from "./useGlide";

const NODE_TYPES = { operator: OperatorNode, store: StoreNode };
const EDGE_TYPES = { record: RecordEdge };
const SNAP: [number, number] = [GRID, GRID];
const FIT = {
  padding: { top: "64px", right: "40px", bottom: "64px", left: "40px" },
  maxZoom: 1,
  minZoom: 0.15,
} as const;
/** From this many nodes on only those in view are kept in the page. */
const MANY = 600;
/** From this many edges on the wires do not move and are left out of the tab order. */
const BUSY = 120;
/** Below this zoom small print cannot be read: labels grow, the rest goes. */
const FAR = 0.36;
const MULTI_SELECT = ["Shift", "Control", "Meta"];

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
  useDesigner.getState().change(t("reconnect"), (now) => reconnect(now, old, from, to), {
    select: { nodes: [], edges: [] },
  });
}

function onSelectionDragStop(_event: React.MouseEvent, dragged: FlowNode[]) {
  const positions = new Map(dragged.map((each) => [each.id, each.position]));
  useDesigner
    .getState()
    .change(t("moved", { n: dragged.length }), (now) => moveNodes(now, positions));
}

function onNodeDoubleClick(_event: React.MouseEvent, node: FlowNode) {
  useView.getState().set({ rightOpen: true });
  useDesigner.getState().goTo(node.id, "");
}

function onNodeMouseEnter(_event: React.MouseEvent, node: FlowNode) {
  useDesigner.getState().setHovered(node.id);
}

function onNodeMouseLeave() {
  useDesigner.getState().setHovered(null);
}

function useFlow() {
  const document = useDesigner((state) => state.document);
  const catalogue = useDesigner((state) => state.catalogue);
  const selection = useDesigner((state) => state.selection);
  const readOnly = useDesigner((state) => state.readOnly);
  const flowStore = useStoreApi();
  const [nodes, setNodes] = useState<FlowNode[]>([]);
  const [edges, setEdges] = useState<FlowEdge[]>([]);
  useEffect(() => {
    if (catalogue === null) return;
    const chosen = new Set(selection.nodes);
    setNodes((before) => {
      // The box around a selection made with the mouse must not outlive another selection.
      const drawn = before.filter((node) => node.selected === true);
      if (drawn.length !== chosen.size || drawn.some((node) => !chosen.has(node.id))) {
        queueMicrotask(() => flowStore.setState({ nodesSelectionActive: false }));
      }
      return flowNodes(document, catalogue, chosen, before, readOnly);
    });
  }, [document, catalogue, selection.nodes, readOnly, flowStore]);
  useEffect(() => {
    setEdges((before) => flowEdges(document, new Set(selection.edges), before));
  }, [document, selection.edges]);
  return { nodes, setNodes, edges, setEdges };
}

interface OpenAddMenu {
  readonly request: AddRequest;
  readonly left: number;
  readonly top: number;
  readonly at: Position;
}

function CanvasInside() {
  const { edges, nodes, setEdges, setNodes } = useFlow();
  const flow = useReactFlow<FlowNode, FlowEdge>();
  const box = useRef<HTMLDivElement>(null);
  const pointer = useRef<{ x: number; y: number } | null>(null);
  const [addMenu, setAddMenu] = useState<OpenAddMenu | null>(null);
  const [context, setContext] = useState<ContextPlace | null>(null);
  const far = useStore((state) => state.transform[2] < FAR);
  const layer = useDesigner((state) => state.layer);
  const topologyId = useDesigner((state) => state.topologyId);
  const readOnly = useDesigner((state) => state.readOnly);
  const count = useDesigner((state) => state.document.nodes.length);
  const focus = useDesigner((state) => state.focusRequest);
  const glide = useGlide(setNodes);
  const moving = useRef<DocumentEdge | null>(null);

  const openAddMenu = useCallback(
    (request: AddRequest = {}) => {
      const area = box.current?.getBoundingClientRect();
      if (area === undefined || useDesigner.getState().readOnly) return;
      const screen = request.screen ??
        pointer.current ?? { x: area.left + area.width / 2 - 150, y: area.top + area.height / 3 };
      setAddMenu({
        request,
        left: Math.max(8, Math.min(screen.x - area.left, area.width - 340)),
        top: Math.max(8, Math.min(screen.y - area.top, area.height - 330)),
        at: flow.screenToFlowPosition(screen),
      });
    },
    [flow],
  );

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
  }, [flow, glide, openAddMenu]);

  // A topology is shown whole when it is opened, once its nodes have been measured.
  const fitted = useRef<number | null>(null);
  useEffect(() => {
    if (topologyId === null || fitted.current === topologyId || nodes.length === 0) return;
    fitted.current = topologyId;
    requestAnimationFrame(() => void flow.fitView(FIT));
  }, [topologyId, nodes.length, flow]);

  useEffect(() => {
    if (focus === null) return;
    const frame = requestAnimationFrame(() => {
      const node = flow.getNode(focus.node);
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
  }, [focus, flow]);

  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      const kept = changes.filter((change) => change.type !== "remove");
      setNodes((now) => applyNodeChanges(kept, now));
    },
    [setNodes],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<FlowEdge>[]) => {
      const kept = changes.filter((change) => change.type !== "remove");
      setEdges((now) => applyEdgeChanges(kept, now));
    },
    [setEdges],
  );
  const onSelectionChange = useCallback(
    (chosen: { nodes: FlowNode[]; edges: FlowEdge[] }) =>
      useDesigner.getState().select({
        nodes: chosen.nodes.map((node) => node.id),
        edges: chosen.edges.map((edge) => edge.id),
      }),
    [],
  );

  const isValid = useCallback((connection: Connection | FlowEdge) => {
    const state = useDesigner.getState();
    if (state.catalogue === null || state.readOnly) return false;
    const { from, to } = addressOf(connection as Connection);
    const moved = moving.current ?? undefined;
    return refusal(state.document, state.catalogue, knownRoles(state), from, to, moved) === null;
  }, []);
  const onConnect = useCallback((connection: Connection) => {
    const { from, to } = addressOf(connection);
    useDesigner.getState().change(t("connect"), (document) => connect(document, from, to));
  }, []);
  /** A wire let go over a node takes the first port that fits; over nothing it asks what to add. */
  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, connection: FinalConnectionState) => {
      if (connection.isValid === true || connection.fromHandle === null) return;
      if (moving.current !== null || connection.toHandle !== null) return;
      const state = useDesigner.getState();
      const { catalogue, document } = state;
      if (catalogue === null) return;
      const at = "changedTouches" in event ? event.changedTouches[0] : event;
      if (at === undefined) return;
      const { fromHandle } = connection;
      const here = { node: fromHandle.nodeId, port: fromHandle.id ?? "out" };
      const forward = fromHandle.type === "source";
      const under = globalThis.document
        .elementsFromPoint(at.clientX, at.clientY)
        .map((element) => element.closest<HTMLElement>(".react-flow__node")?.dataset.id)
        .find((id) => id !== undefined);
      if (under !== undefined) {
        if (under === here.node) return;
        const other = forward
          ? firstFit(document, catalogue, knownRoles(state), here, under)
          : firstSource(document, catalogue, knownRoles(state), under, here);
        if (other === null) return;
        state.change(t("connect"), (now) =>
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
        state.catalogue !== null &&
        fitsOnEdge(state.document, state.catalogue, knownRoles(state), node.data.node.kind, edge);
      lightWire(fit ? wire : null);
    },
    [],
  );
  const onNodeDragStop = useCallback(
    (event: React.MouseEvent | MouseEvent | TouchEvent, node: FlowNode, dragged: FlowNode[]) => {
      lightWire(null);
      const state = useDesigner.getState();
      const { catalogue } = state;
      const positions = new Map(dragged.map((each) => [each.id, each.position]));
      const alone =
        dragged.length === 1 &&
        !state.document.edges.some((edge) => edge.source === node.id || edge.target === node.id);
      const wire =
        alone && "clientX" in event ? wireAt(event.clientX, event.clientY, node.id) : null;
      const edge = state.document.edges.find((candidate) => edgeId(candidate) === wire);
      state.change(t("moved", { n: dragged.length }), (before) => {
        const now = moveNodes(before, positions);
        if (edge === undefined || catalogue === null) return now;
        if (!fitsOnEdge(now, catalogue, knownRoles(state), node.data.node.kind, edge)) return now;
        const joined = insertOnEdge(now, catalogue, knownRoles(state), edge, node.id);
        return makeRoom(joined, catalogue, node.id);
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

  const onReconnectStart = useCallback((_event: React.MouseEvent, edge: FlowEdge) => {
    moving.current = edge.data?.edge ?? null;
  }, []);
  const onReconnectEnd = useCallback(() => {
    moving.current = null;
  }, []);
  const openContext = useCallback(
    (event: React.MouseEvent | MouseEvent, over: ContextPlace["over"]) => {
      event.preventDefault();
      setContext({ x: event.clientX, y: event.clientY, over });
    },
    [],
  );
  const onNodeContextMenu = useCallback(
    (event: React.MouseEvent, node: FlowNode) => {
      const { select, selection } = useDesigner.getState();
      if (!selection.nodes.includes(node.id)) select({ nodes: [node.id] });
      openContext(event, "node");
    },
    [openContext],
  );
  const onEdgeContextMenu = useCallback(
    (event: React.MouseEvent, edge: FlowEdge) => {
      useDesigner.getState().select({ edges: [edge.id] });
      openContext(event, "edge");
    },
    [openContext],
  );
  const onPaneContextMenu = useCallback(
    (event: React.MouseEvent | MouseEvent) => openContext(event, "pane"),
    [openContext],
  );
  const onEdgeDoubleClick = useCallback(
    (event: React.MouseEvent, edge: FlowEdge) =>
      openAddMenu({ screen: { x: event.clientX, y: event.clientY }, edge: edge.id }),
    [openAddMenu],
  );
  const onPaneClick = useCallback(
    (event: React.MouseEvent) => {
      if (event.detail === 2) openAddMenu({ screen: { x: event.clientX, y: event.clientY } });
    },
    [openAddMenu],
  );
  const closeAdd = useCallback(() => setAddMenu(null), []);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: drop target; adding works by keyboard from the palette
    <div
      className="canvas"
      ref={box}
      data-layer={layer}
      data-far={far || undefined}
      data-many={count > BUSY || undefined}
      onPointerMove={(event) => {
        pointer.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerLeave={() => {
        pointer.current = null;
      }}
      onFocus={(event) => {
        // Tab walks through the nodes; the one that has the focus is the one that commands work on.
        const node = event.target.dataset.id;
        const { select, selection } = useDesigner.getState();
        if (node === undefined || !event.target.matches(".react-flow__node:focus-visible")) return;
        if (!selection.nodes.includes(node)) select({ nodes: [node] });
      }}
      onDragOver={onDragOver}
      onDragLeave={() => lightWire(null)}
      onDrop={onDrop}
    >
      <ReactFlow<FlowNode, FlowEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onSelectionChange={onSelectionChange}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={isValid}
        onReconnectStart={onReconnectStart}
        onReconnect={onReconnect}
        onReconnectEnd={onReconnectEnd}
        onNodeDrag={onNodeDrag}
        onNodeDragStop={onNodeDragStop}
        onSelectionDragStop={onSelectionDragStop}
        onNodeDoubleClick={onNodeDoubleClick}
        onNodeMouseEnter={onNodeMouseEnter}
        onNodeMouseLeave={onNodeMouseLeave}
        onNodeContextMenu={onNodeContextMenu}
        onEdgeContextMenu={onEdgeContextMenu}
        onPaneContextMenu={onPaneContextMenu}
        onEdgeDoubleClick={onEdgeDoubleClick}
        onPaneClick={onPaneClick}
        connectionLineType={ConnectionLineType.SmoothStep}
        connectionRadius={26}
        nodesDraggable={!readOnly}
        nodesConnectable={!readOnly}
        edgesReconnectable={!readOnly}
        deleteKeyCode={null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={MULTI_SELECT}
        selectionMode={SelectionMode.Partial}
        panOnScroll={false}
        zoomOnDoubleClick={false}
        disableKeyboardA11y
        nodesFocusable
        edgesFocusable={count <= BUSY}
        snapToGrid
        snapGrid={SNAP}
        minZoom={0.1}
        maxZoom={2.5}
        onlyRenderVisibleElements={count > MANY}
        elevateNodesOnSelect={false}
        attributionPosition="top-right"
        aria-label={t("canvas")}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.6} color="var(--m-grid)" />
        {layer === "plan" ? <PlanAreas /> : null}
        <LayerSwitch />
        <Tools />
        <ConnectionHint />
      </ReactFlow>
      <EmptyCanvas />
      {addMenu === null ? null : <AddMenu {...addMenu} onClose={closeAdd} />}
      {context === null ? null : <ContextMenu place={context} onClose={() => setContext(null)} />}
    </div>
  );
}

/** The drawing of the open topology. */
export function Canvas() {
  return (
    <ReactFlowProvider>
      <CanvasInside />
    </ReactFlowProvider>
  );
}
