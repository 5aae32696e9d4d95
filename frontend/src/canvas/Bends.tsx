import { EdgeLabelRenderer, useReactFlow } from "@xyflow/react";
import { type Bendable, ledThrough } from "../designer/bendable";
import { focusBend, useBending } from "../designer/bending";
import { drawnOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { halfway, legsThrough, setPoints } from "../graph/bends";
import { type DocumentEdge, edgeId, type Position } from "../graph/document";
import { GRID, snap } from "../graph/geometry";
import { t } from "../ui/i18n";

type Points = readonly Position[];

/** Pixels by which the pointer has to be moved before something is dragged. */
const HELD = 3;
/** How far from the middle of a wire its handle is placed if there is a mark. */
const ASIDE = 18;

const STEPS: Readonly<Record<string, Position>> = {
  ArrowLeft: { x: -GRID, y: 0 },
  ArrowRight: { x: GRID, y: 0 },
  ArrowUp: { x: 0, y: -GRID },
  ArrowDown: { x: 0, y: GRID },
};

/**
 * The handles of a selected wire: one at each bend, and a smaller one in the middle of each part, which adds a bend.
 * `onHold` shows bends while one is dragged.
 */
export function Bends(props: {
  /** The edge of the document. */
  edge: DocumentEdge;
  changed: Bendable;
  /** Where the wire begins and ends. */
  ends: readonly [Position, Position];
  /** The corners of the wire, if it has no bends. */
  way: Points | null;
  points: Points;
  held: boolean;
  marked: boolean;
  onHold: (points: Points | null) => void;
}) {
  const { changed, edge, ends, held, marked, onHold, points, way } = props;
  const flow = useReactFlow();
  const id = edgeId(edge);
  const { first } = changed;
  const last = first + changed.count + points.length - changed.points.length;
  const set = (now: Points, gesture?: string) => {
    const state = useDesigner.getState();
    const { toDocument } = drawnOf(state);
    const label = now.length < points.length ? t("Remove the bend") : t("Bend the edge");
    const places = ledThrough(changed, now, toDocument);
    const options = gesture === undefined ? {} : { gesture };
    state.change(label, (document) => setPoints(document, edge, places), options);
  };
  const add = (index: number, place: Position) => {
    set(points.toSpliced(index, 0, snap(place)));
    focusBend(id, index - first);
  };
  const remove = (index: number) => {
    set(points.toSpliced(index, 1));
    focusBend(id, index - first);
  };
  /** Drags the bend at an index, or one that is added there. */
  const drag = (index: number, added: boolean) => (event: React.PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.stopPropagation();
    const { clientX, clientY, currentTarget, pointerId } = event;
    currentTarget.setPointerCapture(pointerId);
    let now: Points | null = null;
    const move = (to: PointerEvent) => {
      const [x, y] = [to.clientX, to.clientY];
      if (now === null && Math.hypot(x - clientX, y - clientY) < HELD) return;
      const place = snap(flow.screenToFlowPosition({ x, y }, { snapToGrid: false }));
      now = points.toSpliced(index, added ? 0 : 1, place);
      onHold(now);
    };
    const end = (by: Event) => {
      if (by instanceof KeyboardEvent && by.key !== "Escape") return;
      ending.abort();
      onHold(null);
      if (by instanceof KeyboardEvent) by.preventDefault();
      else if (by.type === "pointerup" && now !== null) {
        set(now);
        focusBend(id, index - first);
      }
    };
    const ending = new AbortController();
    const { signal } = ending;
    currentTarget.addEventListener("pointermove", move, { signal });
    currentTarget.addEventListener("pointerup", end, { signal });
    currentTarget.addEventListener("pointercancel", end, { signal });
    window.addEventListener("keydown", end, { signal, capture: true });
  };
  const onKey = (index: number, point: Position) => (event: React.KeyboardEvent) => {
    const step = STEPS[event.key];
    const removes = event.key === "Delete" || event.key === "Backspace";
    if ((step === undefined && !removes) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (step === undefined) {
      remove(index);
      return;
    }
    const by = event.shiftKey ? 4 : 1;
    const place = { x: point.x + step.x * by, y: point.y + step.y * by };
    set(points.with(index, place), `bend ${id} ${index}`);
  };
  const legs = points.length === 0 && way !== null ? [way] : legsThrough(...ends, points);
  return (
    <EdgeLabelRenderer>
      <div className="edge-bends" data-held={held || undefined}>
        {points.slice(first, last).map((point, place) => {
          const index = first + place;
          const at = { edge: id, index: place };
          return (
            <button
              key={`bend ${index}`}
              type="button"
              className="edge-bend nopan nodrag"
              data-bend={id}
              aria-label={t("Bend {n} of {all}: arrows move it, Delete removes it", {
                n: place + 1,
                all: last - first,
              })}
              style={placedAt(point)}
              onFocus={() => useBending.setState({ at })}
              onContextMenu={() => useBending.setState({ at })}
              onPointerDown={drag(index, false)}
              onDoubleClick={() => remove(index)}
              onKeyDown={onKey(index, point)}
            />
          );
        })}
        {legs.map((leg, index) => {
          if (index < first || index > last) return null;
          const { x, y } = halfway(leg);
          const place = { x: marked && points.length === 0 ? x + ASIDE : x, y };
          return (
            <button
              key={`part ${index}`}
              type="button"
              className="edge-part nopan nodrag"
              title={t("Drag to bend the edge here")}
              aria-label={t("Add a bend to part {n} of the edge", { n: index - first + 1 })}
              style={placedAt(place)}
              onPointerDown={drag(index, true)}
              onDoubleClick={() => add(index, place)}
              onClick={(event) => {
                // Pressed by keyboard.
                if (event.detail === 0) add(index, place);
              }}
            />
          );
        })}
      </div>
    </EdgeLabelRenderer>
  );
}

const placedAt = ({ x, y }: Position) => ({
  transform: `translate(-50%, -50%) translate(${x}px, ${y}px)`,
});
