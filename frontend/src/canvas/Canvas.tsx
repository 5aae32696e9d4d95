import "@xyflow/react/dist/base.css";
import "./canvas.css";
import "./nodes.css";
import "./wires.css";
import {
  Background,
  BackgroundVariant,
  ConnectionLineType,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
  useReactFlow,
  useStore,
  useStoreApi,
} from "@xyflow/react";
import {
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useDialogs } from "../commands/dialogs";
import type { AddRequest } from "../designer/canvasApi";
import { reportPicture } from "../designer/firstPicture";
import { usePresence } from "../designer/presence";
import { useRuntime } from "../designer/runtime";
import { inDocument, useDesigner } from "../designer/store";
import { edgeId, type Position } from "../graph/document";
import { fragmentAround } from "../graph/drawing";
import { isFragment } from "../graph/fragments";
import { GRID } from "../graph/geometry";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { AddMenu } from "./AddMenu";
import { ConnectionHint } from "./ConnectionHint";
import { ContextMenu, type ContextPlace } from "./ContextMenu";
import { FarWires } from "./FarWires";
import { EmptyCanvas, LayerSwitch, Tools } from "./Floating";
import {
  chosenOf,
  type FlowEdge,
  type FlowNode,
  isOfFragment,
  isOperator,
  nodesOfFrame,
} from "./flow";
import { setFlow } from "./liveFigures";
import { MARK_NODES } from "./markNodes";
import { OperatorNode } from "./OperatorNode";
import { PlanAreas } from "./PlanAreas";
import { RecordEdge } from "./RecordEdge";
import { StoreNode } from "./StoreNode";
import { distanceAt, pixelAt } from "./scale";
import { type Pointer, useCanvasApi, useViewport } from "./useCanvasApi";
import { useChosenByHand } from "./useChosenByHand";
import { useDropping } from "./useDropping";
import { useFlow } from "./useFlow";
import { useGlide } from "./useGlide";
import { useWiring } from "./useWiring";

const People = later(async () => (await import("./People")).People);
const FindBar = later(async () => (await import("./FindBar")).FindBar);

const NODE_TYPES = { operator: OperatorNode, store: StoreNode, ...MARK_NODES };
const EDGE_TYPES = { record: RecordEdge };
const SNAP: [number, number] = [GRID, GRID];
/** From this many nodes on, only the visible ones are kept in the page. */
const MANY = 200;
/** From this many edges on, wires are not animated and are left out of the tab order. */
const BUSY = 120;
/** Pixels by which a hand moves the pointer while it turns the wheel. */
const UNSTEADY = 8;
/** Milliseconds after the last movement at which the drawing is rendered sharply again. */
const SETTLE_MS = 250;
const MULTI_SELECT = ["Shift", "Control", "Meta"];

function onNodeDoubleClick(_event: React.MouseEvent, node: FlowNode) {
  const { fold, goTo, openInPlace } = useDesigner.getState();
  if (node.type === "group") fold(node.data.group.id, false);
  else if (!isOperator(node)) return;
  else if (isFragment(node.data.node)) void openInPlace(node.id, true);
  else if (node.data.owner === undefined) goTo(node.id, "");
}

function onNodeMouseEnter(_event: React.MouseEvent, node: FlowNode) {
  if (isOperator(node)) useDesigner.getState().setHovered(node.id);
}

/** Selects what a node of the canvas stands for, unless it is selected. */
function selectOnly(node: FlowNode) {
  const { select, selection } = useDesigner.getState();
  const { inner, nodes, notes } =
    node.type === "frame"
      ? { nodes: nodesOfFrame(node.data.frame), notes: [], inner: undefined }
      : chosenOf([node]);
  const selected =
    nodes.every((id) => selection.nodes.includes(id)) &&
    notes.every((id) => selection.notes?.includes(id)) &&
    selection.inner === inner;
  if (!selected) select({ nodes, notes, inner });
}

function onNodeMouseLeave() {
  useDesigner.getState().setHovered(null);
}

interface OpenAddMenu {
  readonly request: AddRequest;
  readonly left: number;
  readonly top: number;
  readonly at: Position | null;
}

/**
 * Marks the canvas while it is moved or something in it is dragged, so that the browser does not look for the pointer
 * among hundreds of nodes.
 */
function useMotion(box: React.RefObject<HTMLDivElement | null>, settled: () => void) {
  return useMemo(() => {
    let settling: ReturnType<typeof setTimeout> | undefined;
    const onMoveStart = (event: MouseEvent | TouchEvent | null) => {
      // Only a person's gesture: an opened topology has the right size of text at once.
      if (event == null) return;
      clearTimeout(settling);
      box.current?.setAttribute("data-moving", "");
    };
    // Each notch of a mouse wheel would start and end a move of its own.
    const onMoveEnd = () => {
      clearTimeout(settling);
      settling = setTimeout(() => {
        box.current?.removeAttribute("data-moving");
        box.current?.removeAttribute("data-zooming");
        settled();
      }, SETTLE_MS);
    };
    const dropped = () => box.current?.removeAttribute("data-dragging");
    const dragging = () => {
      if (box.current?.hasAttribute("data-dragging")) return;
      box.current?.setAttribute("data-dragging", "");
      // React Flow does not report the end of every drag.
      for (const end of ["pointerup", "pointercancel", "blur"]) {
        window.addEventListener(end, dropped, { once: true, capture: true });
      }
    };
    let turned = { clientX: 0, clientY: 0 };
    // Not when the button is pressed, because a click must still reach the elements below.
    const onMove = (event: MouseEvent | TouchEvent | null) => {
      if (event?.type === "mousemove" || event?.type === "touchmove") dragging();
      else if (event?.type === "wheel") {
        turned = event as WheelEvent;
        box.current?.setAttribute("data-zooming", "");
      }
    };
    /** The pointer reaches the elements below again once it is really moved. */
    const pointed = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
      if (Math.hypot(clientX - turned.clientX, clientY - turned.clientY) > UNSTEADY)
        box.current?.removeAttribute("data-zooming");
    };
    const gestures = {
      onMoveStart,
      onMove,
      onMoveEnd,
      onNodeDragStart: dragging,
      onSelectionDragStart: dragging,
    };
    return { gestures, pointed };
  }, [box, settled]);
}

/**
 * Sets the size of a pixel for the text, without rendering the canvas. During a movement it stays, and the whole drawing is
 * scaled as one picture: another size is another layout of every node.
 */
function Pixel({ box }: { box: React.RefObject<HTMLDivElement | null> }) {
  const pixel = useStore(({ transform: [, , zoom] }) => pixelAt(zoom));
  useLayoutEffect(() => {
    if (box.current?.hasAttribute("data-moving") !== true) setPixel(box.current, pixel);
  }, [box, pixel]);
  return null;
}

function setPixel(box: HTMLElement | null, pixel: number) {
  box?.style.setProperty("--px", `${pixel}px`);
}

function CanvasInside({ messages }: { messages: ReactNode }) {
  const { noteChanges, onSelectionChange } = useChosenByHand();
  const { edges, nodes, setNodes, onNodesChange, onEdgesChange } = useFlow(noteChanges);
  const flow = useReactFlow<FlowNode, FlowEdge>();
  const flowStore = useStoreApi();
  const box = useRef<HTMLDivElement>(null);
  const pointer = useRef<Pointer>(null);
  const [addMenu, setAddMenu] = useState<OpenAddMenu | null>(null);
  const [context, setContext] = useState<ContextPlace | null>(null);
  const distance = useStore(({ transform: [, , zoom] }) => distanceAt(zoom));
  const layer = useDesigner((state) => state.layer);
  const stale = useRuntime((state) => state.figures?.stale === true);
  const readOnly = useDesigner((state) => state.readOnly);
  const count = useDesigner((state) => state.document.nodes.length);
  const finding = useDialogs((state) => state.open === "search");
  const glide = useGlide(setNodes);

  const openAddMenu = useCallback(
    (request: AddRequest = {}) => {
      const area = box.current?.getBoundingClientRect();
      if (area === undefined || useDesigner.getState().readOnly) return;
      const requested = Object.keys(request).length > 0;
      const onlyOne = useDesigner.getState().selection.nodes.length === 1;
      const screen = request.screen ??
        pointer.current ?? { x: area.left + area.width / 2 - 150, y: area.top + area.height / 3 };
      setAddMenu({
        request,
        left: Math.max(8, Math.min(screen.x - area.left, area.width - 340)),
        top: Math.max(8, Math.min(screen.y - area.top, area.height - 330)),
        // A node that is added by shortcut while a node is selected goes after that node and is connected to it.
        at: requested || !onlyOne ? inDocument(flow.screenToFlowPosition(screen)) : null,
      });
    },
    [flow],
  );

  useEffect(() => {
    setFlow(flowStore);
    return () => setFlow(null);
  }, [flowStore]);
  useCanvasApi(flow, box, pointer, { glide, openAddMenu });
  useViewport(flow, box, nodes.length);
  useEffect(reportPicture, []);
  const wiring = useWiring(openAddMenu);
  const { dropped, moved } = useDropping(flow);
  const settle = useCallback(
    () => setPixel(box.current, pixelAt(flowStore.getState().transform[2])),
    [flowStore],
  );
  const { gestures, pointed } = useMotion(box, settle);

  const shared = usePresence((state) => state.people.length > 0);
  const openContext = useCallback(
    (event: React.MouseEvent | MouseEvent, over: ContextPlace["over"]) => {
      event.preventDefault();
      setContext({ x: event.clientX, y: event.clientY, over });
    },
    [],
  );
  const onNodeContextMenu = useCallback(
    (event: React.MouseEvent, node: FlowNode) => {
      selectOnly(node);
      const over =
        node.type === "note"
          ? fragmentAround(node.data.note.id) === null
            ? "note"
            : "node"
          : isOperator(node)
            ? node.data.owner === undefined
              ? "node"
              : "inner"
            : isOfFragment(node)
              ? "node"
              : "group";
      openContext(event, over);
    },
    [openContext],
  );
  const onEdgeContextMenu = useCallback(
    (event: React.MouseEvent, edge: FlowEdge) => {
      useDesigner.getState().select({ edges: [edge.data ? edgeId(edge.data.own) : edge.id] });
      openContext(event, "edge");
    },
    [openContext],
  );
  const onPaneContextMenu = useCallback(
    (event: React.MouseEvent | MouseEvent) => openContext(event, "pane"),
    [openContext],
  );
  const onEdgeDoubleClick = useCallback(
    (event: React.MouseEvent, edge: FlowEdge) => {
      // Nothing is inserted within a fragment.
      if (edge.data !== undefined && edge.data.index < 0) return;
      const own = edge.data === undefined ? edge.id : edgeId(edge.data.own);
      openAddMenu({ screen: { x: event.clientX, y: event.clientY }, edge: own });
    },
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
      data-distance={distance}
      data-stale={stale || undefined}
      data-many={count > BUSY || undefined}
      onPointerMove={(event) => {
        pointed(event);
        pointer.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerLeave={() => {
        pointer.current = null;
      }}
      onContextMenu={(event) => {
        const at = event.target instanceof Element ? event.target.closest("[data-bend]") : null;
        if (at !== null) openContext(event, "bend");
      }}
      onFocus={(event) => {
        // Commands work on the selection, so a node that is focused with Tab is selected.
        const { id } = event.target.dataset;
        if (id !== undefined && event.target.matches(".react-flow__edge:focus-visible")) {
          const edge = flow.getEdge(id);
          if (edge?.data !== undefined)
            useDesigner.getState().select({ edges: [edgeId(edge.data.own)] });
          return;
        }
        const node = id === undefined ? undefined : flow.getNode(id);
        if (node === undefined || !event.target.matches(".react-flow__node:focus-visible")) return;
        selectOnly(node);
      }}
      {...dropped}
    >
      <div className="canvas-messages">{messages}</div>
      <ReactFlow<FlowNode, FlowEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onSelectionChange={onSelectionChange}
        {...wiring}
        {...moved}
        {...gestures}
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
        aria-label={t("Topology")}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.6} color="var(--m-grid)" />
        {layer === "plan" ? <PlanAreas /> : null}
        {count > MANY ? <FarWires edges={edges} onContextMenu={onEdgeContextMenu} /> : null}
        <Pixel box={box} />
        <LayerSwitch />
        <Tools />
        <ConnectionHint />
        {shared ? (
          <Suspense>
            <People />
          </Suspense>
        ) : null}
        <EmptyCanvas />
      </ReactFlow>
      {finding ? (
        <Suspense>
          <FindBar />
        </Suspense>
      ) : null}
      {addMenu === null ? null : <AddMenu {...addMenu} onClose={closeAdd} />}
      {context === null ? null : <ContextMenu place={context} onClose={() => setContext(null)} />}
    </div>
  );
}

/** The canvas of the open topology. Messages lie over its upper end. */
export function Canvas({ messages }: { messages?: ReactNode }) {
  return (
    <ReactFlowProvider>
      <CanvasInside messages={messages} />
    </ReactFlowProvider>
  );
}
