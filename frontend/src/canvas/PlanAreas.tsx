import { ViewportPortal } from "@xyflow/react";
import { useMemo } from "react";
import { isShuffle } from "../designer/derived";
import { drawnOf, foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { wirePath } from "../designer/wire";
import { areasOf } from "../graph/areas";
import { portsOf } from "../graph/catalog";
import { edgeId, isStoreKind, sourcePort, targetPort } from "../graph/document";
import { type Box, boundsOf, boxOf, portTop } from "../graph/geometry";
import { ways } from "../graph/routing";
import { t } from "../ui/i18n";

const MARGIN = 16;
const COLORS = 6;

interface Area {
  readonly id: number;
  readonly tasks: number;
  readonly level: number | undefined;
  readonly boxes: readonly Box[];
  readonly links: readonly string[];
  readonly bounds: Box;
}

/** The sub-topologies as areas behind the nodes. One task processes all nodes of an area. */
export function PlanAreas() {
  const drawn = useDesigner(drawnOf);
  const catalog = useDesigner((state) => state.catalog);
  const plan = useDesigner((state) => state.result?.plan ?? null);
  const folds = useDesigner(foldedOf);
  const areas = useMemo<Area[]>(() => {
    if (plan === null || catalog === null) return [];
    const { document } = drawn;
    const state = useDesigner.getState();
    const edges = document.edges.map((edge, index) => ({
      index,
      shuffle: isShuffle(state, edge),
    }));
    const nodes = new Map(document.nodes.map((node) => [node.id, node]));
    const portAt = (id: string, side: "input" | "output" | "store", name: string) => {
      const node = nodes.get(id);
      if (node === undefined) return null;
      const box = boxOf(catalog, node);
      const row = portsOf(catalog, node).filter((port) => port.side === side);
      const at = row.findIndex((port) => port.name === name);
      if (side === "store") return { x: box.x + box.width / 2, y: box.y + box.height };
      const y = box.y + portTop(Math.max(at, 0), Math.max(row.length, 1), box.height);
      return { x: side === "output" ? box.x + box.width : box.x, y };
    };
    const routed = ways(document, catalog, folds);
    const shuffled = new Set(edges.filter((edge) => edge.shuffle).map((edge) => edge.index));
    const areas = areasOf(document, { subtopologies: plan.subtopologies, edges });
    return plan.subtopologies.flatMap((each) => {
      const mine = areas.get(each.id) ?? new Set<string>();
      // A collapsed group is in every area of which it has nodes.
      const hiding = new Set([...mine].flatMap((id) => folds.hidden.get(id) ?? []));
      const boxes = [...mine]
        .filter((id) => !folds.hidden.has(id))
        .map((id) => nodes.get(id))
        .filter((node) => node !== undefined)
        .map((node) => boxOf(catalog, node))
        .concat([...hiding].map((frame) => frame.box));
      const links = document.edges.flatMap((edge, index) => {
        if (!mine.has(edge.source) || !mine.has(edge.target) || shuffled.has(index)) return [];
        if (folds.hidden.has(edge.source) || folds.hidden.has(edge.target)) return [];
        if (targetPort(edge) === "store") {
          const up = portAt(edge.target, "store", "store");
          const store = nodes.get(edge.source);
          if (up === null || store === undefined) return [];
          const box = boxOf(catalog, store);
          const table = isStoreKind(store.kind)
            ? null
            : portAt(store.id, "output", sourcePort(edge));
          const end = table ?? { x: box.x + box.width / 2, y: box.y };
          return [`M${up.x} ${up.y}L${end.x} ${end.y}`];
        }
        const from = portAt(edge.source, "output", sourcePort(edge));
        const to = portAt(edge.target, "input", targetPort(edge));
        if (from === null || to === null) return [];
        return [wirePath(from, to, routed.get(edgeId(edge))).path];
      });
      const bounds = boundsOf(boxes);
      if (bounds === null) return [];
      return [{ id: each.id, tasks: each.tasks, level: each.level, boxes, links, bounds }];
    });
  }, [drawn, catalog, plan, folds]);

  return (
    <ViewportPortal>
      <svg className="plan-areas" width="1" height="1" aria-hidden="true">
        {areas.map((area) => (
          <g
            key={area.id}
            style={{ color: `var(--m-area-${area.id % COLORS})` }}
            className="plan-area"
          >
            {area.links.map((link) => (
              <path key={link} d={link} />
            ))}
            {area.boxes.map((box) => (
              <rect
                key={`${box.x} ${box.y}`}
                x={box.x - MARGIN}
                y={box.y - MARGIN}
                width={box.width + MARGIN * 2}
                height={box.height + MARGIN * 2}
                rx={14}
              />
            ))}
          </g>
        ))}
      </svg>
      {areas.map((area) => {
        const top = area.boxes.reduce((best, box) =>
          box.x + box.y < best.x + best.y ? box : best,
        );
        return (
          <div
            key={area.id}
            className="plan-label m-figures"
            style={{
              transform: `translate(${top.x - MARGIN}px, ${top.y - MARGIN - 22}px)`,
              color: `var(--m-area-${area.id % COLORS})`,
            }}
          >
            {t(
              {
                id: "common.sub_topology_tasks",
                message: "Sub-topology {id} · {n} {n, plural, one {task} other {tasks}}",
              },
              { id: area.id, n: area.tasks },
            )}
          </div>
        );
      })}
    </ViewportPortal>
  );
}
