/** The way of one input record through a simulation, and the offsets at which the simulation starts. */

import type { FollowedRecord, SimulationStep, StoreRow } from "../api/types";
import { isStop } from "./steps";

type Step = SimulationStep;
type Line = Readonly<Record<string, unknown>>;

/** A node on the way, with all steps inside it; `depth`: how many nodes came before it. */
export interface WayStep {
  /** The index of the step at which the record entered it. */
  readonly index: number;
  readonly step: Step;
  readonly depth: number;
  /** The tasks that the record reached through repartition topics. */
  readonly tasks: readonly string[];
  /** The step at which the record was dropped inside the node; null if it was not. */
  readonly drop: Step | null;
  /** The last step inside the node. */
  readonly last: Step;
  /** The indexes of all steps inside the node. */
  readonly within: readonly number[];
  readonly writes: readonly { readonly store: string; readonly row: StoreRow }[];
}

type Growing = { -readonly [Name in keyof WayStep]: WayStep[Name] };

/** The nodes that an input record entered, in order. Records are numbered from 1. */
export function wayOf(steps: readonly Step[], input: number): readonly WayStep[] {
  const found: Growing[] = [];
  const places = new Map<number, Growing>();
  steps.forEach((step, index) => {
    if (step.after !== input || !isStop(step) || step.event === "stop") return;
    const from = step.from ?? null;
    const moved = step.parent === null && from !== null;
    // A step in another task has no parent, so it continues from the last step at the previous node.
    const before = moved
      ? found.findLast((each) => each.step.node === from)
      : places.get(step.parent ?? -1);
    const repartitioned = moved && subOf(step) !== subOf(before?.last);
    const tasks = repartitioned ? [step.task ?? ""] : [];
    const writes = writesOf(steps, step.seq);
    if (before?.step.node === step.node) {
      places.set(index, before);
      before.within = [...before.within, index];
      before.tasks = [...before.tasks, ...tasks];
      before.writes = [...before.writes, ...writes];
      if (step.event === "drop") before.drop = step;
      else before.last = step;
      return;
    }
    const depth = before === undefined ? 0 : before.depth + 1;
    const drop = step.event === "drop" ? step : null;
    const made = { index, step, depth, tasks, drop, last: step, within: [index], writes };
    places.set(index, made);
    found.push(made);
  });
  return found;
}

/** The sub-topology of the step's task: within one, a record moves on without a repartition topic. */
function subOf(step: Step | undefined): string | undefined {
  return step?.task?.split("_")[0];
}

function writesOf(steps: readonly Step[], parent: number): WayStep["writes"] {
  return steps.flatMap((step) =>
    step.event === "store" && step.parent === parent && step.store !== undefined && step.row
      ? [{ store: step.store, row: step.row }]
      : [],
  );
}

/** A row that a record wrote, and the number of the input record that changed it next. */
export interface Written {
  readonly store: string;
  readonly row: StoreRow;
  readonly changedBy: number | null;
}

const nameOf = (store: string, row: StoreRow) => `${store} ${JSON.stringify(row.key)}`;

/** The rows that an input record wrote, and whether later records changed them. */
export function writtenBy(steps: readonly Step[], input: number): readonly Written[] {
  const rows = new Map<string, Written>();
  for (const step of steps) {
    const { after, row, store } = step;
    if (step.event !== "store" || store === undefined || row === undefined) continue;
    const name = nameOf(store, row);
    const known = rows.get(name);
    if (after === input) rows.set(name, { store, row, changedBy: null });
    else if (known !== undefined && known.changedBy === null) {
      rows.set(name, { ...known, changedBy: after });
    }
  }
  return [...rows.values()];
}

/** The numbers of the input records that match a text: a record number, or part of a key or value. */
export function matching(lines: readonly Line[], text: string): readonly number[] {
  const wanted = text.trim().toLowerCase();
  const exact = /^\d+$/.test(wanted) ? Number(wanted) : 0;
  const within = (value: unknown) =>
    (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
      .toLowerCase()
      .includes(wanted);
  const found = lines.flatMap((line, index) => {
    if (!("topic" in line) || index + 1 === exact) return [];
    return wanted === "" || within(line.key) || within(line.value) ? [index + 1] : [];
  });
  return exact >= 1 && exact <= lines.length ? [exact, ...found] : found;
}

/** The first offset of a partition in a simulation, and the number of earlier records that it does not include. */
export interface PartitionStart {
  readonly topic: string;
  readonly partition: number;
  readonly first: number | null;
  readonly earlier: number;
}

/** Where the lines begin in each partition. */
export function startsOf(
  lines: readonly Line[],
  partitions: NonNullable<FollowedRecord["partitions"]>,
): readonly PartitionStart[] {
  return partitions.map(({ topic, partition, earliest, latest }) => {
    const line = lines.find((each) => each.topic === topic && each.partition === partition);
    const first = typeof line?.offset === "number" ? line.offset : null;
    return { topic, partition, first, earlier: (first ?? latest) - earliest };
  });
}

/** Omits the older half of the lines before an input record. */
export function halved(
  lines: readonly Line[],
  input: number,
): { readonly lines: readonly Line[]; readonly input: number } {
  const cut = Math.ceil((input - 1) / 2);
  return { lines: lines.slice(cut), input: input - cut };
}
