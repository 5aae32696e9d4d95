/** Windows of a simulation: when they close, and which of them are closed at a step. */

import type { SimulationStep } from "../api/types";
import { findNode, isStoreKind, paramsOf, type TopologyDocument } from "../graph/document";
import { milliseconds } from "../graph/durations";
import { isStop } from "./steps";

type Step = SimulationStep;

/** The stream time in milliseconds at which a row's window closes; null for rows whose window has no end. */
export function closesAt(document: TopologyDocument, step: Step): number | null {
  const end = endOfWindow(step.row?.key);
  if (end === null) return null;
  const kept = findNode(document, step.node);
  const users = document.edges.filter((edge) => edge.source === step.node);
  const operators =
    kept !== undefined && isStoreKind(kept.kind) ? users.map((edge) => edge.target) : [step.node];
  for (const id of operators) {
    const node = findNode(document, id);
    const window = node === undefined ? undefined : paramsOf(node).window;
    if (typeof window !== "object" || window === null || Array.isArray(window)) continue;
    const grace = milliseconds(window.grace) ?? 0;
    if (window.type === "session") return end + (milliseconds(window.gap) ?? 0) + grace + 1;
    // The end of a sliding window is inclusive.
    return window.type === "sliding" ? end + grace + 1 : end + grace;
  }
  return null;
}

function endOfWindow(key: unknown): number | null {
  const window = (key as { window?: { end?: unknown } } | null)?.window;
  return typeof window?.end === "number" && window.end >= 0 ? window.end : null;
}

/** Identifies a row across all stores. */
export const rowName = (store: string, key: unknown) => `${store} ${JSON.stringify(key)}`;

/** The indexes of the steps at which stream time closes a window, and the rows whose windows are closed at `until`. */
export function closings(
  document: TopologyDocument,
  steps: readonly Step[],
  until = steps.length - 1,
): { readonly at: readonly number[]; readonly closed: ReadonlySet<string> } {
  const open = new Map<string, Map<string, number>>();
  const times = new Map<string, number>();
  const at: number[] = [];
  const closed = new Set<string>();
  steps.slice(0, until + 1).forEach((step, index) => {
    if (step.event === "store" && step.store !== undefined) {
      const task = (step.parent === null ? undefined : steps[step.parent]?.task) ?? "";
      const closes = closesAt(document, step);
      if (closes === null) return;
      const name = rowName(step.store, step.row?.key);
      const mine = open.get(task) ?? new Map<string, number>();
      open.set(task, mine);
      mine.delete(name);
      closed.delete(name);
      if (step.row?.value === null) return;
      if (closes <= (times.get(task) ?? 0)) closed.add(name);
      else mine.set(name, closes);
      return;
    }
    const { stream_time: time, task } = step;
    if (task === undefined || typeof time !== "number") return;
    times.set(task, time);
    // Rows with which the run started do not belong to a task.
    for (const mine of [open.get(task), open.get("")]) {
      for (const [name, closes] of mine ?? []) {
        if (closes > time) continue;
        mine?.delete(name);
        closed.add(name);
        if (isStop(step) && at.at(-1) !== index) at.push(index);
      }
    }
  });
  return { at, closed };
}
