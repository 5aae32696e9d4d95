/** Undo and redo of the simulation's inputs, apart from those of the topology. */

import type { Order } from "./ordering";
import type { InputRow } from "./scenario";

export interface Inputs {
  readonly rows: readonly InputRow[];
  readonly order: Order;
}

interface Entry extends Inputs {
  /** What was done after this state, for the person. */
  readonly label: string;
}

export interface InputHistory {
  readonly past: readonly Entry[];
  readonly future: readonly Entry[];
  /** Consecutive changes with the same gesture, such as typing into a cell, are one entry. */
  readonly gesture: string | null;
}

export const NO_HISTORY: InputHistory = { past: [], future: [], gesture: null };

/** The maximum number of entries. */
const DEPTH = 100;

/** Adds the inputs before a change. */
export function remembered(
  history: InputHistory,
  { order, rows }: Inputs,
  label: string,
  gesture: string | null,
): InputHistory {
  if (gesture !== null && gesture === history.gesture) return { ...history, future: [] };
  return { past: [...history.past, { rows, order, label }].slice(-DEPTH), future: [], gesture };
}

export interface Step {
  readonly history: InputHistory;
  readonly inputs: Inputs;
  readonly label: string;
}

/** One step back from the inputs, or forward; null if there is none. */
export function stepped(
  { future, past }: InputHistory,
  { order, rows }: Inputs,
  direction: "back" | "forward",
): Step | null {
  const back = direction === "back";
  const found = (back ? past : future).at(-1);
  if (found === undefined) return null;
  const left = (back ? past : future).slice(0, -1);
  const added = [...(back ? future : past), { rows, order, label: found.label }];
  return {
    history: { past: back ? left : added, future: back ? added : left, gesture: null },
    inputs: { rows: found.rows, order: found.order },
    label: found.label,
  };
}
