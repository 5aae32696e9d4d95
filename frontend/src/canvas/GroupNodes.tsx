import "./marks.css";
import { ActionIcon } from "@mantine/core";
import IconExpand from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonal.mjs";
import IconCollapse from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonalMinimize2.mjs";
import { Handle, type NodeProps, Position, useUpdateNodeInternals } from "@xyflow/react";
import { memo, useEffect } from "react";
import { useRuntime } from "../designer/runtime";
import { type DesignerState, useDesigner } from "../designer/store";
import { type Frame, fragmentOfGroup } from "../graph/drawing";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { type GroupFlowNode, nodesOfFrame } from "./flow";

/** Selects the nodes of a group before they are dragged with it. */
function selectNodes(event: React.PointerEvent, frame: Frame) {
  if (event.button !== 0 || event.shiftKey || event.ctrlKey || event.metaKey) return;
  const { select, selection } = useDesigner.getState();
  const nodes = nodesOfFrame(frame);
  const inner = selection.inner !== undefined;
  if (!inner && nodes.every((id) => selection.nodes.includes(id))) return;
  select({ nodes });
}

const titleOf = (frame: Frame) => frame.group.title || t("Group");

function FoldButton({ frame }: { frame: Frame }) {
  const fragment = fragmentOfGroup(frame.group);
  const text =
    fragment !== null
      ? t("Close the fragment")
      : frame.collapsed
        ? t("Expand the group")
        : t("Collapse the group");
  return (
    <ActionIcon
      size={22}
      className="nodrag"
      aria-label={text}
      title={text}
      aria-expanded={!frame.collapsed}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation();
        const { fold, openInPlace } = useDesigner.getState();
        if (fragment === null) fold(frame.group.id, !frame.collapsed);
        else void openInPlace(fragment, false);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      {frame.collapsed ? (
        <IconExpand size={14} stroke={1.5} />
      ) : (
        <IconCollapse size={14} stroke={1.5} />
      )}
    </ActionIcon>
  );
}

/** The frame around the nodes of an open group; its head moves all of them. */
export const FrameNode = memo(function FrameNode({ data }: NodeProps<GroupFlowNode>) {
  const { frame } = data;
  const fragment = fragmentOfGroup(frame.group);
  return (
    <div
      className="frame"
      data-hue={fragment === null ? frame.group.color : "fragment"}
      data-fragment={fragment ?? undefined}
    >
      <div className="frame-head" onPointerDownCapture={(event) => selectNodes(event, frame)}>
        {fragment === null ? null : <KindIcon name="puzzle" size={14} className="kind-icon" />}
        <span className="frame-title">{titleOf(frame)}</span>
        <FoldButton frame={frame} />
      </div>
    </div>
  );
});

/** The number of errors of the nodes in a group. */
function errorsIn(state: DesignerState, frame: Frame): number {
  return frame.nodes.reduce(
    (sum, id) =>
      sum + (state.nodeDiagnostics[id] ?? []).filter((each) => each.severity === "error").length,
    0,
  );
}

/** A collapsed group: its title, what is inside, and a port for each wire from outside. */
export const GroupNode = memo(function GroupNode({ data, id }: NodeProps<GroupFlowNode>) {
  const { frame } = data;
  const measure = useUpdateNodeInternals();
  const ports = frame.ports.map((port) => `${port.side} ${port.id} ${port.place.y}`).join("\n");
  // React Flow looked for the ports before this part of the page was loaded, or these were there.
  useEffect(() => {
    if (ports !== "") measure(id);
  }, [measure, id, ports]);
  const errors = useDesigner((state) => errorsIn(state, frame));
  const failed = useRuntime((state) =>
    state.failed?.node != null && frame.nodes.includes(state.failed.node)
      ? state.failed.message
      : null,
  );
  return (
    <div
      className="node group-node"
      data-hue={frame.group.color}
      data-trouble={failed !== null || errors > 0 ? "error" : undefined}
    >
      <div className="node-body">
        <div className="node-title">
          <span className="node-label">{titleOf(frame)}</span>
          <FoldButton frame={frame} />
        </div>
        <div className="node-sentence">
          {t("{n} {n, plural, one {node} other {nodes}}", { n: frame.nodes.length })}
        </div>
      </div>
      {errors > 0 || failed !== null ? (
        <span
          className="node-badge"
          data-severity={failed === null ? "error" : "failure"}
          title={failed ?? undefined}
          role="img"
          aria-label={failed ?? t("{n} {n, plural, one {error} other {errors}}", { n: errors })}
        >
          {failed === null ? errors : "!"}
        </span>
      ) : null}
      {frame.ports.map((port) => (
        <Handle
          key={`${port.side} ${port.id}`}
          id={port.id}
          type={port.side === "output" ? "source" : "target"}
          position={
            port.side === "output"
              ? Position.Right
              : port.side === "input"
                ? Position.Left
                : Position.Bottom
          }
          isConnectable={false}
          className="group-port"
          style={port.side === "store" ? undefined : { top: port.place.y }}
          title={port.id}
        />
      ))}
    </div>
  );
});
