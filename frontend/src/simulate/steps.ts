/** Interprets the steps of a simulation: where a record is, why it ended, what the stores contain. */

import type { SimulationStep, StoreRow } from "../api/types";

/** A step that can be shown: a record enters a node, ends, code stops, or a schedule is due. */
export function isStop(step: SimulationStep): boolean {
  return step.event !== "store" && step.event !== "log" && step.event !== "end";
}

/** Indexes of the steps that can be shown, in order. */
export function stopsOf(steps: readonly SimulationStep[]): readonly number[] {
  return steps.flatMap((step, index) => (isStop(step) ? [index] : []));
}

/** The record of a step: its own, or that of the step that caused it. */
export function recordOf(steps: readonly SimulationStep[], index: number) {
  let step = steps[index];
  while (step !== undefined && step.record === undefined && step.parent !== null) {
    step = steps[step.parent];
  }
  return step?.record ?? null;
}

/** The index of the document's edge over which the step's record entered the node; null if there is none. */
export function edgeOf(steps: readonly SimulationStep[], index: number): number | null {
  const here = steps[index];
  let step = here;
  while (step !== undefined && step.node === here?.node) {
    if (typeof step.edge === "number") return step.edge;
    step = step.parent === null ? undefined : steps[step.parent];
  }
  return null;
}

/** Rows of each store after the step, by the key's text, newest write last. */
export function storesAt(
  steps: readonly SimulationStep[],
  index: number,
): ReadonlyMap<string, readonly StoreRow[]> {
  const found = new Map<string, Map<string, StoreRow>>();
  for (const step of steps.slice(0, endOf(steps, index) + 1)) {
    if (step.event !== "store" || step.store === undefined || step.row === undefined) continue;
    const rows = found.get(step.store) ?? new Map<string, StoreRow>();
    found.set(step.store, rows);
    const key = JSON.stringify(step.row.key);
    if (step.row.value === null && !step.row.tombstone) rows.delete(key);
    else rows.set(key, step.row);
  }
  return new Map([...found].map(([name, rows]) => [name, [...rows.values()]]));
}

/**
 * The last write or printed line that belongs to a step: these follow the record that caused them. Code that is paused
 * at a breakpoint has none, because what it did before comes earlier.
 */
export function endOf(steps: readonly SimulationStep[], index: number): number {
  let end = index;
  if (steps[index]?.event === "stop") return end;
  for (let next = steps[end + 1]; next !== undefined && !isStop(next); next = steps[end + 1])
    end += 1;
  return end;
}

/** Lines that a node printed for the record of a step; at a breakpoint, only those printed so far. */
export function printedAt(
  steps: readonly SimulationStep[],
  index: number,
): readonly SimulationStep[] {
  const step = steps[index];
  if (step === undefined) return [];
  const stopped = step.event === "stop";
  const cause = stopped ? step.parent : step.seq;
  return steps.filter(
    (each) =>
      each.event === "log" &&
      each.node === step.node &&
      each.parent === cause &&
      (!stopped || each.seq < step.seq),
  );
}

/** The keys that the step wrote or deleted, by store. */
export function writesOf(
  steps: readonly SimulationStep[],
  index: number,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const step of steps.slice(index + 1, endOf(steps, index) + 1)) {
    if (step.store === undefined || step.row === undefined) continue;
    const keys = found.get(step.store) ?? new Set<string>();
    found.set(step.store, keys.add(JSON.stringify(step.row.key)));
  }
  return found;
}

/** Stream time of each task after the step, in milliseconds. */
export function streamTimes(
  steps: readonly SimulationStep[],
  index: number,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const step of steps.slice(0, index + 1)) {
    if (step.task !== undefined && typeof step.stream_time === "number") {
      found.set(step.task, step.stream_time);
    }
  }
  return found;
}

/** Steps by the sequence number of the step that caused them. */
export function childrenOf(
  steps: readonly SimulationStep[],
): ReadonlyMap<number, readonly SimulationStep[]> {
  const found = new Map<number, SimulationStep[]>();
  for (const step of steps) {
    if (step.parent === null) continue;
    const mine = found.get(step.parent);
    if (mine === undefined) found.set(step.parent, [step]);
    else mine.push(step);
  }
  return found;
}

/** Why the record of a step goes no further than its node, by the operator's word; null if it continues or is dropped. */
export function endingOf(
  step: SimulationStep,
  children: ReadonlyMap<number, readonly SimulationStep[]>,
): string | null {
  if (step.event !== "record") return null;
  const end = (children.get(step.seq) ?? []).find((child) => child.event === "end");
  return end?.reason ?? null;
}

/** Whether a record has come through a repartition topic, from one part of a node to another. */
export function isRepartitioned(step: SimulationStep): boolean {
  return step.inside === true && step.parent === null;
}
