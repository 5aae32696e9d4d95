// @vitest-environment happy-dom
import type { ReactFlowState } from "@xyflow/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type NodeFigures, useRuntime } from "../designer/runtime";
import { setFlow, showFigures, showNodeFigures } from "./liveFigures";

type Listener = (now: ReactFlowState, before: ReactFlowState) => void;

/** React Flow's state: a screen of 1000 by 500 pixels, and two nodes, of which one is far to the right. */
function canvas() {
  const node = (x: number) => ({
    measured: { width: 200, height: 50 },
    internals: { positionAbsolute: { x, y: 100 } },
  });
  const nodeLookup = new Map([
    ["near", node(100)],
    ["away", node(3000)],
  ]);
  let state = {
    width: 1000,
    height: 500,
    transform: [0, 0, 1],
    nodeLookup,
  } as never as ReactFlowState;
  const listeners = new Set<Listener>();
  return {
    getState: () => state,
    subscribe: (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    move: (transform: [number, number, number]) => {
      const before = state;
      state = { ...state, transform };
      for (const each of listeners) each(state, before);
    },
  };
}

let at = 0;

function report(inRate: number) {
  at += 1000;
  const node = { inRate, outRate: 0, lag: null } as NodeFigures;
  useRuntime.getState().setFigures({ at, stale: false, nodes: { near: node, away: node } });
}

/** Shows the rates of both nodes, and returns those that were written. */
function rates() {
  const written: Record<string, number[]> = { near: [], away: [] };
  const stops = ["near", "away"].map((id) =>
    showNodeFigures(id, (figures) => written[id]?.push(figures?.inRate ?? 0)),
  );
  return { written, stop: () => stops.forEach((stop) => void stop()) };
}

beforeEach(() => {
  useRuntime.getState().setFigures(null);
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => {
    run();
    return 0;
  });
});
afterEach(() => {
  setFlow(null);
  vi.unstubAllGlobals();
});

test("figures of nodes outside the view are written when they come into view", () => {
  const flow = canvas();
  setFlow(flow);
  const { stop, written } = rates();
  report(5);
  report(6);
  expect(written).toEqual({ near: [0, 5, 6], away: [0] });
  flow.move([-2500, 0, 1]);
  expect(written).toEqual({ near: [0, 5, 6], away: [0, 6] });
  report(7);
  expect(written).toEqual({ near: [0, 5, 6], away: [0, 6, 7] });
  stop();
});

test("figures that are too small to read are written when the drawing is enlarged", () => {
  const flow = canvas();
  flow.move([0, 0, 0.3]);
  setFlow(flow);
  const { stop, written } = rates();
  report(5);
  expect(written).toEqual({ near: [0], away: [0] });
  flow.move([0, 0, 1]);
  expect(written).toEqual({ near: [0, 5], away: [0] });
  stop();
});

test("without a canvas all figures are written, until the last one is removed", () => {
  const { stop, written } = rates();
  const totals: (number | null)[] = [];
  const end = showFigures(
    () => undefined,
    (figures) => totals.push(figures?.at ?? null),
  );
  report(5);
  stop();
  end();
  report(6);
  expect(written).toEqual({ near: [0, 5], away: [0, 5] });
  expect(totals).toEqual([null, at - 1000]);
});
