import { Position as Side, useStore, ViewportPortal } from "@xyflow/react";
import { type MouseEvent, useCallback, useMemo } from "react";
import { shallow } from "zustand/shallow";
import { drawing, foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { edgeId } from "../graph/document";
import type { FlowEdge } from "./flow";
import { RecordEdge } from "./RecordEdge";
import { detoursOf, isFar } from "./ways";

/**
 * Bent wires in view whose nodes are not. While only what is in view is kept in the page, React Flow leaves them out: it
 * looks at the box around the two nodes.
 */
export function FarWires(props: {
  edges: readonly FlowEdge[];
  onContextMenu: (event: MouseEvent, edge: FlowEdge) => void;
}) {
  const { edges, onContextMenu } = props;
  const document = useDesigner(drawing);
  const folds = useDesigner(foldedOf);
  // biome-ignore lint/correctness/useExhaustiveDependencies: detours are those of this drawing
  const detours = useMemo(() => detoursOf(useDesigner.getState()), [document, folds]);
  const far = useStore(
    useCallback(
      ({ height, transform: [x, y, zoom], width }) => {
        const view = { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
        return detours.filter((detour) => isFar(detour, view));
      },
      [detours],
    ),
    shallow,
  );
  if (far.length === 0) return null;
  return (
    <ViewportPortal>
      <div className="react-flow__edges far-wires">
        {far.map(({ edge: id, way }) => {
          const edge = edges.find((each) => each.id === id);
          const { data } = edge ?? {};
          const [first, last] = [way[0], way.at(-1)];
          if (edge === undefined || data === undefined || !first || !last) return null;
          const select = () => useDesigner.getState().select({ edges: [edgeId(data.own)] });
          return (
            <svg key={id} role="img" aria-label={edge.ariaLabel}>
              {/* biome-ignore lint/a11y/noStaticElementInteractions: like every wire of a large drawing, reached by keyboard from its nodes */}
              <g
                className="react-flow__edge selectable nopan"
                data-id={id}
                onClick={select}
                onContextMenu={(event) => onContextMenu(event, edge)}
              >
                <RecordEdge
                  id={id}
                  source={edge.source}
                  target={edge.target}
                  data={data}
                  selected={edge.selected}
                  sourceX={first.x}
                  sourceY={first.y}
                  targetX={last.x}
                  targetY={last.y}
                  sourcePosition={Side.Right}
                  targetPosition={Side.Left}
                />
              </g>
            </svg>
          );
        })}
      </div>
    </ViewportPortal>
  );
}
