import { BaseEdge, EdgeLabelRenderer, type EdgeProps, Position } from "@xyflow/react";
import { memo, useEffect, useRef, useState } from "react";
import type { PortType } from "../api/types";
import { bendableOf } from "../designer/bendable";
import { isShuffle } from "../designer/derived";
import { drawing } from "../designer/drawn";
import { edgeFigures, type RuntimeFigures, subscribeNode } from "../designer/runtime";
import { useSimulated } from "../designer/simulated";
import { type DesignerState, useDesigner } from "../designer/store";
import { useView } from "../designer/view";
import { chipPlace, wirePath } from "../designer/wire";
import { wayThrough } from "../graph/bends";
import { portsOf } from "../graph/catalog";
import { edgeId, findNode, type Position as Point, sourcePort } from "../graph/document";
import { pinOn } from "../graph/pins";
import { readType, shortType } from "../graph/types";
import { count, exact, rate } from "../ui/format";
import { t } from "../ui/i18n";
import { Bends } from "./Bends";
import type { FlowEdge } from "./flow";
import { onBorder } from "./handles";
import { showFigures } from "./liveFigures";
import { bendsOf, wayOf } from "./ways";

/** Half the height of a port: a wire to a store ends at the node, not at the bottom of its port. */
const STORE_PORT = 6;

/** The smallest gap between two nodes, in pixels, in which a total is shown. */
const TOTAL_ROOM = 32;

/** Shortened types of key and value; shorter still if all wires show their types. */
function chipText(type: PortType, room: number): string {
  return `${shortType(readType(type.key), room)} → ${shortType(readType(type.value), room)}`;
}

function Label(props: {
  edge?: string;
  text: string;
  title?: string;
  x: number;
  y: number;
  hovered?: boolean;
  named?: boolean;
}) {
  const { edge, hovered, named, text, title, x, y } = props;
  return (
    <EdgeLabelRenderer>
      <div
        className="edge-chip"
        data-edge={edge}
        data-hovered={hovered || undefined}
        data-named={named || undefined}
        data-short={text.length <= SHORT || undefined}
        style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
        title={title}
      >
        {text}
      </div>
    </EdgeLabelRenderer>
  );
}

/** Characters of a chip that has room between two nodes also where text is large for the drawing. */
const SHORT = 5;

/** Total and, if there is room, current rate of an edge's records, written directly into the DOM. */
function Flowed(props: {
  source: string;
  target: string;
  x: number;
  y: number;
  short: boolean;
  hovered: boolean;
  named: boolean;
}) {
  const { hovered, named, short, source, target, x, y } = props;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const write = (figures: RuntimeFigures | null) => {
      const found = edgeFigures(drawing(useDesigner.getState()), { source, target }, figures);
      if (box.current === null) return;
      const now = found !== null && found.rate > 0 && !short ? ` · ${rate(found.rate)}` : "";
      const text = found === null ? "" : `${count(found.total)}${now}`;
      box.current.textContent = text;
      box.current.toggleAttribute("data-short", text.length <= SHORT);
    };
    return showFigures(() => ({ x, y, width: 1, height: 1 }), write);
  }, [short, source, target, x, y]);
  return (
    <EdgeLabelRenderer>
      <div
        className="edge-chip m-figures"
        data-rate=""
        data-hovered={hovered || undefined}
        data-named={named || undefined}
        ref={box}
        style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
      />
    </EdgeLabelRenderer>
  );
}

/** The repartition topic in front of a node, with its partitions; null if there is no plan or no such topic. */
function repartitionTopic(state: DesignerState, target: string): string | null {
  const topic = state.result?.plan?.internal_topics.find(
    (each) => each.kind === "repartition" && each.name === `${target}-repartition`,
  );
  return topic === undefined
    ? null
    : t("{name} · {n} {n, plural, one {partition} other {partitions}}", {
        name: topic.name,
        n: topic.partitions,
      });
}

/** Marks on a wire: a key if the key changes, a double bar if records are shuffled. */
function Marks(props: { x: number; y: number; shuffle: boolean; topic: string | null }) {
  const { shuffle, topic, x, y } = props;
  if (shuffle) {
    return (
      <g className="edge-shuffle" transform={`translate(${x} ${y})`}>
        <title>
          {topic === null
            ? t({
                id: "common.records_are_repartitioned_here",
                message:
                  "Records are repartitioned here: each goes through a repartition topic to the task that owns its key.",
              })
            : `${t({ id: "common.records_are_repartitioned_here", message: "Records are repartitioned here: each goes through a repartition topic to the task that owns its key." })}\n${topic}`}
        </title>
        <rect x={-8} y={-8} width={16} height={16} rx={3} />
        <path d="M-2 -5V5M2 -5V5" />
      </g>
    );
  }
  return (
    <g className="edge-key" transform={`translate(${x} ${y})`}>
      <title>
        {t({
          id: "canvas.key_changed_next_node",
          message:
            "The key changed: the next node that groups or joins by key repartitions the records",
        })}
      </title>
      <circle r={8} />
      <circle cx={-1.9} r={2.1} />
      <path d="M.2 0H4.4M4.2 0V1.9M2.5 0V1.4" />
    </g>
  );
}

/** The distance of a pin from the output. */
const PIN_PLACE = 20;

/** A pin where records stand for everything before the wire. */
function PinMark({ records, x, y }: { records: number; x: number; y: number }) {
  return (
    <g className="edge-pin" transform={`translate(${x} ${y})`}>
      <title>
        {t(
          {
            id: "common.records_are_pinned_here",
            message:
              "{n} {n, plural, one {record is} other {records are}} pinned here: simulations begin with them",
          },
          {
            n: records,
          },
        )}
      </title>
      <circle r={9} />
      <path d="M0 2V6M-3.5 2H3.5M-2 -5H2L1.5 -1L3 2H-3L-1.5 -1Z" />
    </g>
  );
}

/** Whether one end of a wire shows the names of its ports, which need the room between the nodes. */
function namesPorts(state: DesignerState, source: string, target: string): boolean {
  const { catalog, hovered, selection } = state;
  const named = (id: string, side: "input" | "output") => {
    if (hovered !== id && !selection.nodes.includes(id) && selection.inner !== id) return false;
    const node = findNode(drawing(state), id);
    if (catalog === null || node === undefined) return false;
    return portsOf(catalog, node).filter((port) => port.side === side).length > 1;
  };
  return named(source, "output") || named(target, "input");
}

/** Bends of a wire between nodes that are being moved by the same distance, and not yet in the document. */
function movedAlong(
  points: readonly Point[],
  way: readonly Point[] | null,
  from: Point,
  to: Point,
) {
  const [first, last] = [way?.[0], way?.at(-1)];
  if (points.length === 0 || first === undefined || last === undefined) return points;
  const by = { x: from.x - first.x, y: from.y - first.y };
  const apart = Math.max(Math.abs(to.x - last.x - by.x), Math.abs(to.y - last.y - by.y));
  if (apart > 1 || Math.max(Math.abs(by.x), Math.abs(by.y)) < 1) return points;
  return points.map(({ x, y }) => ({ x: x + by.x, y: y + by.y }));
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
    let flowed: boolean | undefined;
    return subscribeNode(node, (figures) => {
      const flows = (figures?.outRate ?? 0) > 0;
      if (flows === flowed) return;
      flowed = flows;
      group.current?.toggleAttribute("data-flow", flows);
    });
  }, [node, on]);
  return group;
}

export const RecordEdge = memo(function RecordEdge(props: EdgeProps<FlowEdge>) {
  const { data, id, selected, sourceX, sourceY, targetX, targetY } = props;
  // The ends in the document; on the canvas, a collapsed group may stand for one of them.
  const { source, target } = data?.edge ?? props;
  const { sourcePosition } = props;
  const type = useDesigner((state) =>
    data === undefined ? undefined : state.result?.ports[source]?.[sourcePort(data.edge)],
  );
  const shuffle = useDesigner((state) =>
    data === undefined ? false : isShuffle(state, data.edge, data.index),
  );
  const topic = useDesigner((state) => (shuffle ? repartitionTopic(state, target) : null));
  const planned = useDesigner((state) => state.layer === "plan");
  const near = useDesigner((state) => state.hovered === source || state.hovered === target);
  const named = useDesigner((state) => namesPorts(state, source, target));
  const always = useView((state) => state.edgeTypes);
  const runtime = useDesigner((state) => state.layer === "runtime");
  const [hovered, setHovered] = useState(false);
  const way = useDesigner((state) => wayOf(state, id));
  const bent = useDesigner((state) => bendsOf(state, data?.edge));
  const readOnly = useDesigner((state) => state.readOnly);
  const [dragged, setDragged] = useState<readonly Point[] | null>(null);
  const group = useFlow(source, runtime && data?.store !== true);
  const simulated = useSimulated((state) => state.edges?.[id]);
  const stepped = useSimulated((state) => state.at?.edge === id);
  const missed = useSimulated((state) => state.missed?.edges.has(id));
  const own = data === undefined ? id : edgeId(data.own);
  const pinned = useDesigner((state) => pinOn(state.document, own)?.records.length);

  if (data?.store === true) {
    const end = targetY - STORE_PORT;
    // A store hangs below its node; a table whose store is read is to the left of the processor.
    const [start, bend] =
      sourcePosition === Position.Right
        ? [`${sourceX + 40} ${sourceY}`, 48]
        : [`${sourceX} ${sourceY - 20}`, 20];
    const path = `M${sourceX} ${sourceY}C${start} ${targetX} ${end + bend} ${targetX} ${end}`;
    return (
      <g className="wire" data-store="" data-selected={selected || undefined} data-wire={id}>
        <BaseEdge path={path} interactionWidth={16} />
      </g>
    );
  }
  const [from, to] = [
    { x: sourceX, y: sourceY },
    { x: targetX, y: targetY },
  ];
  // The ports of a collapsed group have no size.
  const ends = [
    props.source === source ? onBorder(from, "source") : from,
    props.target === target ? onBorder(to, "target") : to,
  ] as const;
  const points = dragged ?? movedAlong(bent.between, way, ...ends);
  const led = points.length === 0 ? way : wayThrough(...ends, points);
  const { middle, path } = wirePath(from, to, led);
  const bendable = selected === true && !readOnly && data !== undefined && data.index >= 0;
  // Of the wires that stand for one edge, one has the handles.
  const changed = bendable ? bendableOf(useDesigner.getState(), data.own) : null;
  const { x: labelX, y: labelY } = middle;
  // Between close neighbors, the name of a topic is shown only while the pointer is over the wire.
  const long = targetX < sourceX || targetX - sourceX > 160;
  const wide = long || targetX - sourceX > TOTAL_ROOM;
  const pointed = hovered && !runtime;
  // While the topology runs, the inspector shows the types of a selected edge.
  const chosen = selected === true && !runtime;
  const showChip = type !== undefined && (always || chosen || pointed);
  const counted = runtime ? undefined : simulated;
  const types = type === undefined ? "" : chipText(type, always && !hovered ? 0 : 2);
  const chip = counted === undefined ? types : `${exact(counted)} · ${types}`;
  const marks = shuffle || (type?.key_changed ?? false);
  return (
    <g
      className="wire"
      data-selected={selected || undefined}
      data-near={near || undefined}
      data-step={stepped || undefined}
      data-missed={missed || undefined}
      data-named={named || undefined}
      data-wire={id}
      ref={group}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
    >
      <BaseEdge path={path} interactionWidth={18} />
      {pinned === undefined || runtime ? null : (
        <PinMark records={pinned} x={sourceX + PIN_PLACE} y={sourceY} />
      )}
      {marks ? <Marks x={labelX} y={labelY} shuffle={shuffle} topic={topic} /> : null}
      {planned && topic !== null && (long || hovered) ? (
        <Label text={topic} x={labelX} y={labelY + 20} hovered={hovered} named={named} />
      ) : null}
      {counted === undefined || showChip ? null : (
        <Label
          edge={id}
          text={exact(counted)}
          title={t(
            {
              id: "canvas.records_in_simulation",
              message: "{n} {n, plural, one {record} other {records}} in the simulation",
            },
            { n: exact(counted) },
          )}
          x={labelX}
          y={marks ? labelY - 16 : labelY}
          hovered={hovered}
          named={named && !hovered}
        />
      )}
      {runtime && (wide || hovered) ? (
        <Flowed
          source={source}
          target={target}
          x={labelX}
          y={labelY + (showChip ? 16 : marks ? -16 : long ? 0 : -12)}
          short={!long && !hovered}
          hovered={hovered}
          named={named && !hovered}
        />
      ) : null}
      {showChip ? (
        <Label
          text={chip}
          title={`key: ${type.key}\nvalue: ${type.value}`}
          hovered={chosen || pointed}
          named={named && !chosen && !pointed}
          {...chipPlace(chip, from, to, middle, marks || bendable ? 20 : always ? 12 : 0)}
        />
      ) : null}
      {bendable && changed !== null && edgeId(changed.edge) === id ? (
        <Bends
          edge={data.own}
          changed={changed}
          ends={ends}
          way={way}
          points={points}
          held={dragged !== null}
          marked={marks}
          onHold={setDragged}
        />
      ) : null}
    </g>
  );
});
