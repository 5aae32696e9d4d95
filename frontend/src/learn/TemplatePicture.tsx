import { useQuery } from "@tanstack/react-query";
import { getCatalog } from "../api/topologyCalls";
import type { Template } from "../api/types";
import { hueOf } from "../designer/derived";
import {
  type DocumentNode,
  isStoreKind,
  positionOf,
  readDocument,
  targetPort,
} from "../graph/document";
import { NODE_HEIGHT, NODE_WIDTH, STORE_HEIGHT, STORE_WIDTH } from "../graph/geometry";

const WIDTH = 212;
const HEIGHT = 76;
/** The margin around the picture, in its own units. */
const MARGIN = 36;

function placed(node: DocumentNode) {
  const store = isStoreKind(node.kind);
  const width = store ? STORE_WIDTH : NODE_WIDTH;
  const height = store ? STORE_HEIGHT : NODE_HEIGHT;
  const { x, y } = positionOf(node);
  return { node, store, x, y, width, height, middle: { x: x + width / 2, y: y + height / 2 } };
}

/** A small picture of a template: boxes in the colors of their families, and their edges. */
export function TemplatePicture({ template }: { template: Template }) {
  const catalog = useQuery({
    queryKey: ["catalog"],
    queryFn: getCatalog,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const document = readDocument(template.document);
  if (document === null) return null;
  const boxes = document.nodes.map(placed);
  const left = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const top = Math.min(...boxes.map((box) => box.y)) - MARGIN;
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN - left;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN - top;
  const find = (id: string) => boxes.find((box) => box.node.id === id);
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`${left} ${top} ${width} ${height}`}
      data-template={template.id}
      aria-hidden="true"
    >
      {document.edges.map((edge) => {
        const from = find(edge.source);
        const to = find(edge.target);
        if (from === undefined || to === undefined) return null;
        const key = `${edge.source}>${edge.target}.${targetPort(edge)}`;
        const store = from.store || to.store;
        const d = store
          ? `M${from.middle.x} ${from.middle.y}L${to.middle.x} ${to.middle.y}`
          : curve(from.x + from.width, from.middle.y, to.x, to.middle.y);
        return (
          <path
            key={key}
            d={d}
            fill="none"
            stroke={store ? "var(--m-hue-store)" : "var(--m-edge)"}
            strokeWidth="1.2"
            vectorEffect="non-scaling-stroke"
            {...(store ? { strokeDasharray: "2 2" } : {})}
          />
        );
      })}
      {boxes.map((box) => (
        <g key={box.node.id}>
          <rect
            x={box.x}
            y={box.y}
            width={box.width}
            height={box.height}
            rx={box.store ? box.height / 2 : 8}
            fill="var(--m-panel)"
            stroke={box.store ? "var(--m-hue-store)" : "var(--m-line-strong)"}
            vectorEffect="non-scaling-stroke"
          />
          {box.store ? null : (
            <rect
              x={box.x}
              y={box.y}
              width="26"
              height={box.height}
              rx="8"
              fill={
                catalog === undefined
                  ? "var(--m-line-strong)"
                  : `var(--m-hue-${hueOf(catalog, box.node.kind)})`
              }
            />
          )}
        </g>
      ))}
    </svg>
  );
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  // A wire back to the next row stays close to both boxes.
  const reach = x2 > x1 ? Math.max(32, (x2 - x1) / 2) : 48;
  return `M${x1} ${y1}C${x1 + reach} ${y1} ${x2 - reach} ${y2} ${x2} ${y2}`;
}
