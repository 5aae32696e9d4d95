import { ActionIcon, Button, Popover } from "@mantine/core";
import IconUndo from "@tabler/icons-react/dist/esm/icons/IconArrowBackUp.mjs";
import IconRedo from "@tabler/icons-react/dist/esm/icons/IconArrowForwardUp.mjs";
import IconArrange from "@tabler/icons-react/dist/esm/icons/IconBinaryTree2.mjs";
import IconLegend from "@tabler/icons-react/dist/esm/icons/IconInfoCircle.mjs";
import IconMap from "@tabler/icons-react/dist/esm/icons/IconMap2.mjs";
import IconFit from "@tabler/icons-react/dist/esm/icons/IconMaximize.mjs";
import IconMinus from "@tabler/icons-react/dist/esm/icons/IconMinus.mjs";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import IconTypes from "@tabler/icons-react/dist/esm/icons/IconTag.mjs";
import { MiniMap, Panel, type ReactFlowState, useStore } from "@xyflow/react";
import { Suspense, useState } from "react";
import { addKind } from "../commands/addNode";
import { canRun, commandContext } from "../commands/command";
import { commandById } from "../commands/registry";
import { canvas } from "../designer/canvasApi";
import { hueOf } from "../designer/derived";
import { useRuntime } from "../designer/runtime";
import { type Layer, useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { Chip, Empty, Segments, Tip } from "../ui";
import { span } from "../ui/format";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { type FlowNode, isOperator } from "./flow";
import { HeatSwitch } from "./Heat";
import { isUnder } from "./visible";

const Legend = later(async () => (await import("./Legend")).Legend);

/** Stale figures show their age only above this, in milliseconds: younger ones only lack a worker's heartbeats. */
const FRESH_MS = 4_000;

export function LayerSwitch() {
  const layer = useDesigner((state) => state.layer);
  const setLayer = useDesigner((state) => state.setLayer);
  const planned = useDesigner((state) => state.result?.plan != null);
  const running = useRuntime((state) => state.figures !== null);
  const staleFor = useRuntime((state) =>
    state.figures?.stale === true ? Math.max(0, Date.now() - state.figures.at) : null,
  );
  const missing =
    layer === "plan" && !planned
      ? t("The plan appears when the topology compiles")
      : layer === "runtime" && !running
        ? t("Live figures appear while this topology runs")
        : null;
  return (
    <Panel position="top-left" className="layer-switch">
      <Segments<Layer>
        label={t("Layer")}
        value={layer}
        onChange={setLayer}
        items={[
          { id: "design", title: t("Design") },
          { id: "plan", title: t("Plan") },
          { id: "runtime", title: t("Runtime") },
        ]}
      />
      {layer === "runtime" && running ? <HeatSwitch /> : null}
      {missing === null ? null : <Chip className="layer-note">{missing}</Chip>}
      {layer === "runtime" && staleFor !== null ? (
        <Chip tone="degraded">
          {staleFor < FRESH_MS
            ? t("Last known figures")
            : t("Figures are {span} old", { span: span(staleFor) })}
        </Chip>
      ) : null}
    </Panel>
  );
}

function Tool(props: {
  command: string;
  title: string;
  active?: boolean;
  disabled?: boolean;
  children: React.ReactNode;
}) {
  const command = commandById(props.command);
  return (
    <Tip text={props.title} keys={command?.shortcuts?.[0]} position="top">
      <ActionIcon
        aria-label={props.title}
        aria-pressed={props.active}
        data-active={props.active || undefined}
        size={26}
        disabled={props.disabled}
        onClick={() => {
          const context = commandContext();
          if (command !== undefined && canRun(command, context)) void command.run(context);
        }}
      >
        {props.children}
      </ActionIcon>
    </Tip>
  );
}

function ZoomLevel() {
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  return (
    <button
      type="button"
      className="zoom-level m-figures"
      onClick={() => canvas()?.zoomTo(1)}
      title="100 %"
    >
      {zoom} %
    </button>
  );
}

/** What shapes, marks and colors mean. */
function LegendButton() {
  const [opened, setOpened] = useState(false);
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="top-start"
      width={420}
      shadow="sm"
      middlewares={{ shift: true, flip: true, size: true }}
    >
      <Popover.Target>
        <ActionIcon
          aria-label={t("Legend")}
          title={t("Legend")}
          aria-expanded={opened}
          data-active={opened || undefined}
          size={26}
          onClick={() => setOpened(!opened)}
          data-testid="legend-button"
        >
          <IconLegend size={15} stroke={1.5} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown className="legend-frame">
        <Suspense>
          <Legend />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}

function miniColor(node: FlowNode): string {
  const { catalog } = useDesigner.getState();
  if (node.type === "frame") return "var(--m-line)";
  if (node.type === "note") return "var(--m-hue-table)";
  if (!isOperator(node) || catalog === null) return "var(--m-ghost)";
  return `var(--m-hue-${hueOf(catalog, node.data.node.kind)})`;
}

const MAP = { width: 148, height: 92 };
/** The distance of the minimap from the edges of the canvas, as React Flow places it. */
const MAP_MARGIN = 15;

/** Whether a node is under the minimap. */
function isCovered(state: ReactFlowState): boolean {
  const { height, nodeLookup, transform, width } = state;
  const [x, y, zoom] = transform;
  const [right, bottom] = [width - MAP_MARGIN, height - MAP_MARGIN];
  const area = { left: right - MAP.width, top: bottom - MAP.height, right, bottom };
  for (const node of nodeLookup.values()) {
    if (node.hidden === true || node.type === "frame") continue;
    const box = {
      ...node.internals.positionAbsolute,
      width: node.measured.width ?? 0,
      height: node.measured.height ?? 0,
    };
    if (isUnder(box, { x, y, zoom }, area)) return true;
  }
  return false;
}

/** The minimap; it fades while nodes are under it, until the pointer or the focus is on it. */
function Overview() {
  const covers = useStore(isCovered);
  return (
    <MiniMap<FlowNode>
      position="bottom-right"
      pannable
      zoomable
      nodeColor={miniColor}
      nodeBorderRadius={6}
      nodeStrokeWidth={0}
      style={MAP}
      className={covers ? "faded" : ""}
      ariaLabel={t("Minimap")}
    />
  );
}

export function Tools() {
  const minimap = useView((state) => state.minimap);
  const edgeTypes = useView((state) => state.edgeTypes);
  const undoLabel = useDesigner((state) => state.history.past.at(-1)?.label ?? null);
  const redoLabel = useDesigner((state) => state.history.future.at(-1)?.label ?? null);
  // In a low canvas the minimap would cover the drawing, in a narrow one the tools.
  const roomy = useStore((state) => state.height > 420 && state.width > 560);
  const many = useDesigner((state) => state.document.nodes.length > 1);
  return (
    <>
      <Panel position="bottom-left" className="canvas-tools">
        <Tool
          command="undo"
          title={undoLabel === null ? t("Undo") : `${t("Undo")}: ${undoLabel}`}
          disabled={undoLabel === null}
        >
          <IconUndo size={15} stroke={1.5} />
        </Tool>
        <Tool
          command="redo"
          title={redoLabel === null ? t("Redo") : `${t("Redo")}: ${redoLabel}`}
          disabled={redoLabel === null}
        >
          <IconRedo size={15} stroke={1.5} />
        </Tool>
        <i />
        <Tool command="zoom-out" title={t("Zoom out")}>
          <IconMinus size={15} stroke={1.5} />
        </Tool>
        <ZoomLevel />
        <Tool command="zoom-in" title={t("Zoom in")}>
          <IconPlus size={15} stroke={1.5} />
        </Tool>
        <i />
        <Tool command="zoom-fit" title={t("Show everything")}>
          <IconFit size={15} stroke={1.5} />
        </Tool>
        <Tool command="auto-layout" title={t("Arrange automatically")}>
          <IconArrange size={15} stroke={1.5} style={{ rotate: "-90deg" }} />
        </Tool>
        <i />
        <Tool command="toggle-edge-types" title={t("Show types on all edges")} active={edgeTypes}>
          <IconTypes size={15} stroke={1.5} />
        </Tool>
        <Tool command="toggle-minimap" title={t("Minimap")} active={minimap}>
          <IconMap size={15} stroke={1.5} />
        </Tool>
        <LegendButton />
      </Panel>
      {minimap && many && roomy ? <Overview /> : null}
    </>
  );
}

/** Instructions on an empty canvas. */
export function EmptyCanvas() {
  const empty = useDesigner(
    (state) => state.document.nodes.length === 0 && state.topologyId !== null,
  );
  const readOnly = useDesigner((state) => state.readOnly);
  if (!empty) return null;
  return (
    <div className="canvas-empty">
      <Empty
        title={t("Start with a source of records")}
        action={
          readOnly ? null : (
            <>
              <Button variant="filled" onClick={() => addKind("source.stream")}>
                {t("Add a stream from a topic")}
              </Button>
              <small className="m-muted">{t("N adds a node, Ctrl K finds every command")}</small>
            </>
          )
        }
      >
        {t({
          id: "canvas.drag_source_from_palette",
          message:
            "Drag a source from the palette, or add one here. Then pull an edge from its port to add what comes next.",
        })}
      </Empty>
    </div>
  );
}
