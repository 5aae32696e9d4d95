/**
 * Writes live figures into the DOM, without rendering: of what is in view and large enough to read at once, of everything
 * else when it comes into view. A report concerns hundreds of nodes, of which a screen shows some.
 */

import type { ReactFlowState } from "@xyflow/react";
import { type NodeFigures, type RuntimeFigures, useRuntime } from "../designer/runtime";
import type { Box } from "../graph/geometry";
import { distanceAt } from "./scale";

interface FlowStore {
  getState(): ReactFlowState;
  subscribe(listener: (now: ReactFlowState, before: ReactFlowState) => void): () => void;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Figure {
  /** Where it is in the drawing; undefined if that is not known, and it is written always. */
  place(): Place | undefined;
  write(figures: RuntimeFigures | null): void;
  /** The figures that were written; undefined if none. */
  written: RuntimeFigures | null | undefined;
}

/** Pixels around the screen in which figures are written, too. */
const MARGIN = 60;

const all = new Set<Figure>();
let flow: FlowStore | null = null;
let stop: (() => void) | null = null;
let behind = false;
let planned = 0;

/** Whether text is drawn at a zoom. */
export function isLegible(zoom: number): boolean {
  const distance = distanceAt(zoom);
  return distance === "near" || distance === "middle";
}

/** The part of the drawing that is in view; null if nothing of it can be read, everything without a canvas. */
function visibleBox(): Box | "everything" | null {
  const state = flow?.getState();
  if (state === undefined || state.width === 0) return "everything";
  const [x, y, zoom] = state.transform;
  if (!isLegible(zoom)) return null;
  return {
    x: (-x - MARGIN) / zoom,
    y: (-y - MARGIN) / zoom,
    width: (state.width + 2 * MARGIN) / zoom,
    height: (state.height + 2 * MARGIN) / zoom,
  };
}

function meets(box: Box, place: Place): boolean {
  return (
    place.x < box.x + box.width &&
    box.x < place.x + place.width &&
    place.y < box.y + box.height &&
    box.y < place.y + place.height
  );
}

function refresh() {
  planned = 0;
  const { figures } = useRuntime.getState();
  const box = visibleBox();
  behind = false;
  for (const each of all) {
    if (each.written === figures) continue;
    const place = box === "everything" ? undefined : each.place();
    if (box === "everything" || (box !== null && (place === undefined || meets(box, place)))) {
      each.written = figures;
      each.write(figures);
    } else {
      behind = true;
    }
  }
}

function follow() {
  const stopFigures = useRuntime.subscribe((now, before) => {
    if (now.figures !== before.figures) refresh();
  });
  const stopView = flow?.subscribe((now, before) => {
    const moved =
      now.transform !== before.transform ||
      now.width !== before.width ||
      now.height !== before.height;
    if (moved && behind && planned === 0) planned = requestAnimationFrame(refresh);
  });
  stop = () => {
    stopFigures();
    stopView?.();
    cancelAnimationFrame(planned);
    planned = 0;
  };
}

/** Sets the canvas by whose view figures are written; null if it is closed. */
export function setFlow(store: FlowStore | null) {
  flow = store;
  if (stop === null) return;
  stop();
  follow();
  refresh();
}

/** Writes figures now and whenever they change; returns a function that ends this. */
export function showFigures(place: Figure["place"], write: Figure["write"]): () => void {
  const own: Figure = { place, write, written: undefined };
  all.add(own);
  if (stop === null) follow();
  own.written = useRuntime.getState().figures;
  write(own.written);
  return () => {
    all.delete(own);
    if (all.size > 0) return;
    stop?.();
    stop = null;
  };
}

/** The same for the figures of a node, which hang below it. */
export function showNodeFigures(
  id: string,
  write: (figures: NodeFigures | null) => void,
): () => void {
  const place = () => {
    const node = flow?.getState().nodeLookup.get(id);
    if (node === undefined) return undefined;
    const { height = 0, width = 0 } = node.measured;
    return { ...node.internals.positionAbsolute, width, height: 2 * height };
  };
  let last: NodeFigures | null | undefined;
  return showFigures(place, (figures) => {
    const next = figures?.nodes[id] ?? null;
    if (next === last) return;
    last = next;
    write(next);
  });
}

/**
 * Sets the text that is shown while the pointer rests on an element. It is computed when the pointer comes, not for each
 * of hundreds of elements with each report.
 */
export function explain(element: HTMLElement, title: () => string) {
  const set = () => {
    const text = title();
    if (element.title !== text) element.title = text;
  };
  element.onpointerenter = set;
  if (element.matches(":hover")) set();
}
