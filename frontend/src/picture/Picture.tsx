import type { ReactNode } from "react";
import { hueOf } from "../designer/derived";
import { wirePath } from "../designer/wire";
import { pointsOf } from "../graph/bends";
import { type Catalog, kindOf, portsOf } from "../graph/catalog";
import {
  type DocumentEdge,
  type DocumentNode,
  edgeId,
  isStoreKind,
  labelOf,
  paramsOf,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import { type Folded, type Frame, innerPort, type Note, noteBox, notesOf } from "../graph/drawing";
import { type Box, boundsOf, boxOf, portTop } from "../graph/geometry";
import { groupPlace, portPlace, ways } from "../graph/routing";
import { type Phrase, phrase, t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { FONT, fitted, noteLines } from "./text";

export type Color = (token: string) => string;

/** All that a picture shows. */
export interface Drawn {
  readonly document: TopologyDocument;
  readonly catalog: Catalog;
  readonly folded: Folded;
  /** One sentence per node. */
  readonly sentences: Readonly<Record<string, string>>;
  readonly color: Color;
  /** What a comparison says of nodes and edges, by id. */
  readonly marks?: ReadonlyMap<string, Mark>;
  /** Called with a marked node that is chosen, by mouse or keyboard. */
  readonly onChoose?: (node: string) => void;
}

export type Mark = "added" | "removed" | "changed";

/** Marks differ in more than their color. */
export const MARKS: Readonly<Record<Mark, { color: string; sign: string; word: Phrase }>> = {
  added: { color: "--m-running", sign: "+", word: phrase("added") },
  removed: { color: "--m-failed", sign: "−", word: phrase("removed") },
  changed: { color: "--m-degraded", sign: "≠", word: phrase("changed") },
};

const MARGIN = 32;

/** A color that is mixed with the color of the panel; programs that show an SVG can't mix. */
function Hue(props: { box: Box; color: string; opacity: number; radius: number; fill: string }) {
  const { box, color, fill, opacity, radius } = props;
  const common = { x: box.x, y: box.y, width: box.width, height: box.height, rx: radius };
  return (
    <>
      <rect {...common} fill={fill} />
      <rect {...common} fill={color} fillOpacity={opacity} stroke={color} strokeOpacity={0.45} />
    </>
  );
}

function FrameShape({ color, frame }: { color: Color; frame: Frame }) {
  const { box, collapsed, group } = frame;
  const hue = color(`--m-hue-${group.color ?? "stateless"}`);
  const title = group.title || t("Group");
  if (!collapsed) {
    return (
      <g>
        <Hue box={box} color={hue} opacity={0.06} radius={10} fill={color("--m-canvas")} />
        <text x={box.x + 12} y={box.y + 21} fill={hue} fontSize={13} fontWeight={600}>
          {fitted(title, box.width - 24, 13, 600)}
        </text>
      </g>
    );
  }
  return (
    <g>
      <rect
        x={box.x + 4}
        y={box.y + 4}
        width={box.width}
        height={box.height}
        rx={6}
        fill={color("--m-panel")}
        stroke={color("--m-line-strong")}
      />
      <Body box={box} color={color} hue={hue} />
      <text x={box.x + 14} y={box.y + 25} fill={color("--m-text")} fontSize={14} fontWeight={600}>
        {fitted(title, box.width - 28, 14, 600)}
      </text>
      <text x={box.x + 14} y={box.y + 43} fill={color("--m-muted")} fontSize={12}>
        {t("{n} {n, plural, one {node} other {nodes}}", { n: frame.nodes.length })}
      </text>
      {frame.ports.map((port) => (
        <Port
          key={`${port.side} ${port.id}`}
          color={color}
          x={box.x + port.place.x}
          y={box.y + port.place.y}
        />
      ))}
    </g>
  );
}

function Body({ box, color, hue }: { box: Box; color: Color; hue: string }) {
  return (
    <>
      <rect
        x={box.x + 0.5}
        y={box.y + 0.5}
        width={box.width - 1}
        height={box.height - 1}
        rx={6}
        fill={color("--m-panel")}
        stroke={color("--m-line-strong")}
      />
      <path
        d={`M${box.x + 4} ${box.y}V${box.y + box.height}H${box.x + 6}A6 6 0 0 1 ${box.x} ${box.y + box.height - 6}V${box.y + 6}A6 6 0 0 1 ${box.x + 6} ${box.y}Z`}
        fill={hue}
      />
    </>
  );
}

function Port({ color, x, y }: { color: Color; x: number; y: number }) {
  return (
    <circle
      cx={x}
      cy={y}
      r={4}
      fill={color("--m-panel")}
      stroke={color("--m-edge")}
      strokeWidth={1.5}
    />
  );
}

function NodeShape({ drawn, node }: { drawn: Drawn; node: DocumentNode }) {
  const { catalog, color, sentences } = drawn;
  const box = boxOf(catalog, node);
  const hue = color(`--m-hue-${hueOf(catalog, node.kind)}`);
  const kind = kindOf(catalog, node.kind);
  if (isStoreKind(node.kind)) {
    const { height: h, width: w, x, y } = box;
    const name = paramsOf(node).name;
    const shown = typeof name === "string" && name !== "" ? name : labelOf(node);
    return (
      <g stroke={color("--m-line-strong")} fill={color("--m-panel")}>
        <path
          d={`M${x + 0.5} ${y + 7}V${y + h - 8}A${w / 2} 7 0 0 0 ${x + w - 1} ${y + h - 8}V${y + 7}`}
        />
        <ellipse cx={x + w / 2} cy={y + 7.5} rx={w / 2 - 0.5} ry={7} />
        <text
          x={x + w / 2}
          y={y + 32}
          textAnchor="middle"
          fill={color("--m-text")}
          stroke="none"
          fontSize={12}
        >
          {fitted(shown, w - 16, 12)}
        </text>
      </g>
    );
  }
  const ports = portsOf(catalog, node);
  const sentence = sentences[node.id] ?? kind?.title ?? node.kind;
  const rows = (side: string) => ports.filter((port) => port.side === side);
  return (
    <g>
      <Body box={box} color={color} hue={hue} />
      <g transform={`translate(${box.x + 14} ${box.y + 13})`} color={hue}>
        <KindIcon name={kind?.icon} size={15} />
      </g>
      <text x={box.x + 35} y={box.y + 25} fill={color("--m-text")} fontSize={14} fontWeight={600}>
        {fitted(labelOf(node), box.width - 48, 14, 600)}
      </text>
      <text x={box.x + 14} y={box.y + 43} fill={color("--m-muted")} fontSize={12}>
        {fitted(sentence, box.width - 26, 12)}
      </text>
      {["input", "output"].flatMap((side) =>
        rows(side).map((port, index) => (
          <Port
            key={`${side} ${port.name}`}
            color={color}
            x={side === "input" ? box.x : box.x + box.width}
            y={box.y + portTop(index, rows(side).length, box.height)}
          />
        )),
      )}
    </g>
  );
}

/** The outline and the sign of a node that differs. */
function MarkShape(props: { drawn: Drawn; node: DocumentNode; mark: Mark }) {
  const { drawn, mark, node } = props;
  const { catalog, color, onChoose } = drawn;
  const box = boxOf(catalog, node);
  const { color: token, sign, word } = MARKS[mark];
  const choose = () => onChoose?.(node.id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a picture has no buttons
    <g
      role="button"
      tabIndex={0}
      aria-label={`${labelOf(node)}: ${t(word)}`}
      data-mark={mark}
      data-node={node.id}
      style={{ cursor: "pointer" }}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      }}
    >
      <rect
        x={box.x - 3}
        y={box.y - 3}
        width={box.width + 6}
        height={box.height + 6}
        rx={8}
        fill={color(token)}
        fillOpacity={0.08}
        stroke={color(token)}
        strokeWidth={2}
        strokeDasharray={mark === "removed" ? "6 4" : undefined}
      />
      <circle cx={box.x + box.width} cy={box.y} r={10} fill={color(token)} />
      <text
        x={box.x + box.width}
        y={box.y + 5}
        textAnchor="middle"
        fill={color("--m-panel")}
        fontSize={14}
        fontWeight={700}
      >
        {sign}
      </text>
    </g>
  );
}

/** The path of an edge; null if it is inside a collapsed group. */
function pathOf(
  { catalog, document, folded }: Drawn,
  edge: DocumentEdge,
  way: ReturnType<ReturnType<typeof ways>["get"]>,
): string | null {
  const from = folded.hidden.get(edge.source);
  const to = folded.hidden.get(edge.target);
  if (from !== undefined && from === to) return null;
  const source = document.nodes.find((node) => node.id === edge.source);
  const target = document.nodes.find((node) => node.id === edge.target);
  if (source === undefined || target === undefined) return null;
  const box = boxOf(catalog, source);
  const start =
    groupPlace(from, "output", innerPort(edge, "source")) ??
    portPlace(catalog, source, "output", edge.source_port ?? "out") ??
    ({ x: box.x + box.width / 2, y: box.y } as const);
  if (targetPort(edge) === "store") {
    const below = boxOf(catalog, target);
    const end =
      groupPlace(to, "store", innerPort(edge, "target")) ??
      ({ x: below.x + below.width / 2, y: below.y + below.height } as const);
    const top = isStoreKind(source.kind) && from === undefined;
    const first = top ? { x: box.x + box.width / 2, y: box.y } : start;
    const bend = top ? `${first.x} ${first.y - 20}` : `${first.x + 40} ${first.y}`;
    return `M${first.x} ${first.y}C${bend} ${end.x} ${end.y + (top ? 20 : 48)} ${end.x} ${end.y}`;
  }
  const end =
    groupPlace(to, "input", innerPort(edge, "target")) ??
    portPlace(catalog, target, "input", targetPort(edge));
  return end === null ? null : wirePath(start, end, way).path;
}

function NoteShape({ color, note }: { color: Color; note: Note }) {
  const box = noteBox(note);
  const hue = color(`--m-hue-${note.color ?? "table"}`);
  const most = Math.floor((box.height - 16) / 19);
  return (
    <g>
      <Hue box={box} color={hue} opacity={0.1} radius={6} fill={color("--m-panel")} />
      {noteLines(note.text ?? "", box.width - 26, 13)
        .slice(0, most)
        .map((line, index) => (
          <text
            key={index}
            x={box.x + 13}
            y={box.y + 24 + index * 19}
            fill={color("--m-text")}
            fontSize={13}
            fontWeight={line.strong ? 600 : 400}
            fontFamily={line.code ? "monospace" : undefined}
          >
            {line.text}
          </text>
        ))}
    </g>
  );
}

/** The whole drawing, also what is not on the screen. */
export function Picture(drawn: Drawn): ReactNode {
  const { catalog, color, document, folded } = drawn;
  const shown = document.nodes.filter((node) => !folded.hidden.has(node.id));
  const routed = ways(document, catalog, folded);
  const corners = [...pointsOf(document).keys()].flatMap((edge) => routed.get(edge) ?? []);
  const bounds = boundsOf([
    ...shown.map((node) => boxOf(catalog, node)),
    ...folded.frames.map((frame) => frame.box),
    ...notesOf(document).map(noteBox),
    ...corners.map((corner) => ({ ...corner, width: 0, height: 0 })),
  ]) ?? { x: 0, y: 0, width: 320, height: 160 };
  const width = bounds.width + MARGIN * 2;
  const height = bounds.height + MARGIN * 2;
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`${bounds.x - MARGIN} ${bounds.y - MARGIN} ${width} ${height}`}
      fontFamily={FONT}
    >
      <title>{document.name}</title>
      <rect
        x={bounds.x - MARGIN}
        y={bounds.y - MARGIN}
        width={width}
        height={height}
        fill={color("--m-canvas")}
      />
      {folded.frames
        .filter((frame) => !frame.collapsed)
        .map((frame) => (
          <FrameShape key={frame.group.id} frame={frame} color={color} />
        ))}
      <g fill="none" stroke={color("--m-edge")} strokeWidth={1.5}>
        {document.edges.map((edge) => {
          const path = pathOf(drawn, edge, routed.get(edgeId(edge)));
          if (path === null) return null;
          const mark = drawn.marks?.get(edgeId(edge));
          const dashed =
            targetPort(edge) === "store" ? "2 4" : mark === "removed" ? "6 4" : undefined;
          const own = mark && { stroke: color(MARKS[mark].color), strokeWidth: 2.5 };
          return <path key={edgeId(edge)} d={path} strokeDasharray={dashed} {...own} />;
        })}
      </g>
      {notesOf(document).map((note) => (
        <NoteShape key={note.id} note={note} color={color} />
      ))}
      {folded.frames
        .filter((frame) => frame.collapsed)
        .map((frame) => (
          <FrameShape key={frame.group.id} frame={frame} color={color} />
        ))}
      {shown.map((node) => (
        <NodeShape key={node.id} drawn={drawn} node={node} />
      ))}
      {shown.map((node) => {
        const mark = drawn.marks?.get(node.id);
        return mark && <MarkShape key={node.id} drawn={drawn} node={node} mark={mark} />;
      })}
    </svg>
  );
}
