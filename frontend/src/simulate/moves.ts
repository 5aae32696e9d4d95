/** Moves through the steps of a simulation: by step, by record, to the next record that ended. */

import { create } from "zustand";
import type { SimulationStep } from "../api/types";
import { useDesigner } from "../designer/store";
import { childrenOf, endingOf, recordOf, stopsOf } from "./steps";
import { type Shown, useSimulation } from "./store";
import { closings } from "./windows";

export type Move =
  | "first"
  | "back"
  | "next"
  | "last"
  | "recordBack"
  | "recordNext"
  | "dropNext"
  | "closeNext";

function ended(shown: Shown): (step: SimulationStep) => boolean {
  const children = childrenOf(shown.result.steps);
  return (step) => step.event === "drop" || endingOf(step, children) !== null;
}

/** A filter of steps: those at a node, and those whose record contains a text in its key, value or headers. */
export interface Wanted {
  readonly node: string | null;
  readonly text: string;
}

const ALL: Wanted = { node: null, text: "" };

function chosen(steps: readonly SimulationStep[], { node, text }: Wanted): readonly number[] {
  const sought = text.trim().toLowerCase();
  return stopsOf(steps).filter((at) => {
    if (node !== null && steps[at]?.node !== node && steps[at]?.inner !== node) return false;
    if (sought === "") return true;
    const { key, value, headers } = recordOf(steps, at) ?? {};
    return JSON.stringify([key, value, headers]).toLowerCase().includes(sought);
  });
}

/** The index of the step after a move; unchanged if there is no such step. */
export function moved(shown: Shown, from: number, move: Move, wanted: Wanted = ALL): number {
  const { steps } = shown.result;
  const stops = chosen(steps, wanted);
  const input = steps[from]?.after ?? 0;
  const firstOf = (after: number | undefined) =>
    stops.find((at) => steps[at]?.after === after) ?? from;
  const before = stops.filter((at) => at < from);
  const later = stops.filter((at) => at > from);
  switch (move) {
    case "first":
      return stops[0] ?? from;
    case "last":
      return stops.at(-1) ?? from;
    case "back":
      return before.at(-1) ?? from;
    case "next":
      return later[0] ?? from;
    case "recordBack": {
      const start = firstOf(input);
      if (start < from) return start;
      const previous = before.filter((at) => (steps[at]?.after ?? 0) < input).at(-1);
      return previous === undefined ? from : firstOf(steps[previous]?.after);
    }
    case "recordNext":
      return later.find((at) => (steps[at]?.after ?? 0) > input) ?? from;
    case "closeNext": {
      const closing = new Set(closings(shown.document, steps).at);
      return later.find((at) => closing.has(at)) ?? from;
    }
    case "dropNext": {
      const ends = ended(shown);
      return (
        later.find((at) => {
          const step = steps[at];
          return step !== undefined && ends(step);
        }) ?? from
      );
    }
  }
}

/** The filter of moves, which applies to buttons and shortcuts. */
export const useStepping = create<{ readonly onlySelected: boolean; readonly text: string }>()(
  () => ({ onlySelected: false, text: "" }),
);

/** Performs a move. */
export function go(move: Move): void {
  const { goTo, setView, shown, step, view } = useSimulation.getState();
  if (shown === null) return;
  if (view !== "steps") setView("steps");
  const { onlySelected, text } = useStepping.getState();
  const { inner, nodes } = useDesigner.getState().selection;
  const node = onlySelected ? (inner ?? nodes[0] ?? null) : null;
  goTo(moved(shown, step, move, { node, text }));
}
