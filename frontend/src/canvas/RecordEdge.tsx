import { BaseEdge, type EdgeProps, getSmoothStepPath, Position } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import type { PortType } from "../designer/compile";
import { subscribeNode } from "../designer/runtime";
import { type DesignerState, useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { sourcePort } from "../graph/document";
import { readType, shortType } from "../graph/types";
import type { FlowEdge } from "./flow";
import { t } from "./texts";

function shuffles(state: DesignerState, index: number): boolean {
  return state.result?.plan?.edges.some((edge) => edge.index === index && edge.shuffle) ?? false;
}

function chipText(type: PortType): string {
  return `${shortType(readType(type.key), 1)} → ${shortType(readType(type.value))}`;
}

/** Characters of the monospace chip are this wide. */
const CHARACTER = 6.05;

function TypeChip({ type, x, y }: { type: PortType; x: number; y: number }) {
  const text = chipText(type);
  const width = Math.round(text.length * CHARACTER) + 14;
  return (
    <g className="edge-chip" transform={`translate(${x - width / 2} ${y - 9})`}>
      <title>{`key: ${type.key}\nvalue: ${type.value}`}</title>
      <rect width={width} height={18} rx={9} />
      <text x={width / 2} y={12.5} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}

/** A key glyph where the key changed; a double bar across the wire where records are shuffled. */
function Marks(props: { x: number; y: number; shuffle: boolean; upright: boolean }) {
  const { shuffle, upright, x, y } = props;
  if (shuffle) {
    return (
      <g className="edge-shuffle" transform={`translate(${x} ${y}) rotate(${upright ? 90 : 0})`}>
        <title>{t("shuffle")}</title>
        <rect x={-8} y={-8} width={16} height={16} rx={3} />
        <path d="M-2 -5V5M2 -5V5" />
      </g>
    );
  }
  return (
    <g className="edge-key" transform={`translate(${x} ${y})`}>
      <title>{t("keyChanged")}</title>
      <circle r={8} />
      <circle cx={-1.9} r={2.1} />
      <path d="M.2 0H4.4M4.2 0V1.9M2.5 0V1.4" />
    </g>
  );
}

/** Sets `data-flow` on the wire while records come through it. */
function useFlow(node: string, on: boolean) {
  const group = useRef<SVGGElement>(null);
  useEffect(() => {
    const element = group.current;
    if (!on) {
      element?.removeAttribute("data-flow");
      return;
    }
    return subscribeNode(node, (figures) =>
      group.current?.toggleAttribute("data-flow", (figures?.outRate ?? 0) > 0),
    );
  }, [node, on]);
  return group;
}

export const RecordEdge = memo(function RecordEdge(props: EdgeProps<FlowEdge>) {
  const { data, id, selected, source, sourceX, sourceY, target, targetX, targetY } = props;
  const type = useDesigner((state) =>
    data === undefined ? undefined : state.result?.ports[source]?.[sourcePort(data.edge)],
  );
  const shuffle = useDesigner((state) =>
    data === undefined ? false : shuffles(state, data.index),
  );
  const near = useDesigner((state) => state.hovered === source || state.hovered === target);
  const always = useView((state) => state.edgeTypes);
  const runtime = useDesigner((state) => state.layer === "runtime");
  const group = useFlow(source, runtime && data?.store !== true);

  if (data?.store === true) {
    const path = `M${sourceX} ${sourceY}C${sourceX} ${sourceY - 20} ${targetX} ${targetY + 20} ${targetX} ${targetY}`;
    return (
      <g className="wire" data-store="" data-selected={selected || undefined} data-wire={id}>
        <BaseEdge path={path} interactionWidth={16} />
      </g>
    );
  }
  const [path, labelX, labelY] = getSmoothStepPath({
    sourceX,
    sourceY,
    sourcePosition: Position.Right,
    targetX,
    targetY,
    targetPosition: Position.Left,
    borderRadius: 8,
    offset: 20,
  });
  const straight = Math.abs(sourceY - targetY) < 2;
  const upright = !straight && targetX > sourceX + 40;
  const showChip = type !== undefined && (always || selected === true || near);
  const marks = shuffle || (type?.key_changed ?? false);
  return (
    <g
      className="wire"
      data-selected={selected || undefined}
      data-near={near || undefined}
      data-wire={id}
      ref={group}
    >
      <BaseEdge path={path} interactionWidth={18} />
      {marks ? <Marks x={labelX} y={labelY} shuffle={shuffle} upright={upright} /> : null}
      {type !== undefined && !showChip ? (
        <g className="edge-hover-chip">
          <TypeChip type={type} x={labelX} y={marks ? labelY - 20 : labelY} />
        </g>
      ) : null}
      {showChip ? <TypeChip type={type} x={labelX} y={marks ? labelY - 20 : labelY} /> : null}
    </g>
  );
});
