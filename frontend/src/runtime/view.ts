/** What the canvas, the assignment and the inspector show of a running deployment, worked out of the driver's reports. */

import type { Deployment, Progress, TaskProgress, TopologyDocument } from "../api/types";
import type { NodeFigures, RuntimeFigures, TaskState } from "../designer/runtime";

/** One report, reduced to the totals that rates are worked out of. */
export interface Sample {
  at: number;
  nodes: Record<string, { in: number; out: number }>;
  tasks: Record<string, number>;
}

export interface TaskView extends TaskProgress {
  rate: number | null;
  lag: number | null;
  state: TaskState;
}

export interface RuntimeView extends RuntimeFigures {
  tasks: TaskView[];
  stores: { name: string; node: string; rows: number; bytes: number }[];
  batch: { number: number; duration: number; phases: Record<string, number> } | null;
  inputRate: number | null;
}

/** Reports are sent every second; after this long without one the figures are no longer the truth. */
export const STALE_AFTER = 5_000;
/** Rates are taken over this long, so that one micro-batch more or less does not make them jump. */
export const RATE_WINDOW = 5_000;
const HISTORY = 900_000;
const MAX_SAMPLES = 900;

export function sampleOf(progress: Progress): Sample {
  const nodes: Sample["nodes"] = {};
  for (const [id, figures] of Object.entries(progress.nodes)) {
    nodes[id] = { in: figures.in, out: figures.out };
  }
  const tasks: Sample["tasks"] = {};
  for (const task of progress.tasks) tasks[task.task] = task.records;
  return { at: progress.at, nodes, tasks };
}

/** Adds a report to the history. Totals that went down belong to a new run: the history starts again. */
export function remember(history: readonly Sample[], sample: Sample): Sample[] {
  const last = history.at(-1);
  if (last !== undefined) {
    if (sample.at < last.at) return [...history];
    const restarted = Object.entries(sample.nodes).some(
      ([id, figures]) =>
        figures.in < (last.nodes[id]?.in ?? 0) || figures.out < (last.nodes[id]?.out ?? 0),
    );
    if (restarted) return [sample];
    if (sample.at === last.at) return [...history.slice(0, -1), sample];
  }
  const from = sample.at - HISTORY;
  return [...history, sample].filter((each) => each.at >= from).slice(-MAX_SAMPLES);
}

/** Growth per second of a total between the last report and the one RATE_WINDOW before it. */
export function rateOf(
  history: readonly Sample[],
  total: (sample: Sample) => number | undefined,
  end: number = history.length - 1,
): number | null {
  const last = history[end];
  if (last === undefined) return null;
  let first: Sample | undefined;
  for (let index = end - 1; index >= 0; index -= 1) {
    const sample = history[index];
    if (sample === undefined) break;
    first = sample;
    if (last.at - sample.at >= RATE_WINDOW) break;
  }
  if (first === undefined || last.at === first.at) return null;
  const now = total(last);
  if (now === undefined) return null;
  return ((now - (total(first) ?? 0)) * 1000) / (last.at - first.at);
}

/** Points of a rate over time, for the small chart: at most `limit` of them, oldest first. */
export function series(
  history: readonly Sample[],
  total: (sample: Sample) => number | undefined,
  limit = 120,
): { at: number; value: number }[] {
  const points: { at: number; value: number }[] = [];
  const step = Math.max(1, Math.ceil(history.length / limit));
  for (let index = history.length - 1; index > 0; index -= step) {
    const value = rateOf(history, total, index);
    const at = history[index]?.at;
    if (value !== null && at !== undefined) points.push({ at, value: Math.max(0, value) });
  }
  return points.reverse();
}

export function lagOf(task: TaskProgress): number | null {
  let known = false;
  let sum = 0;
  for (const each of task.topic_partitions) {
    const lag =
      each.lag ??
      (each.end_offset !== null && each.offset !== null ? each.end_offset - each.offset : null);
    if (lag !== null) {
      known = true;
      sum += Math.max(0, lag);
    }
  }
  return known ? sum : null;
}

/** Behind by more than ten seconds of its own work, and by more than a batch's worth, is degraded. */
function taskState(rate: number | null, lag: number | null, stale: boolean): TaskState {
  if (stale) return "unknown";
  return lag !== null && lag > 1000 && lag > 10 * (rate ?? 0) ? "degraded" : "running";
}

function topicsOf(document: TopologyDocument, node: string): Set<string> {
  const found = document.nodes.find((each) => each.id === node);
  if (found === undefined || !found.kind.startsWith("source.")) return new Set();
  const params = found.params ?? {};
  const topics = Array.isArray(params.topics) ? params.topics : [params.topic];
  return new Set(topics.filter((topic): topic is string => typeof topic === "string"));
}

export interface ViewInput {
  deployment: Deployment | null;
  progress: Progress | null;
  history: readonly Sample[];
  document: TopologyDocument | null;
  /** Sub-topologies of each node, from the plan. */
  subtopologies: Readonly<Record<string, readonly number[]>>;
  /** The server (or the lost connection) says that the figures are old. */
  stale: boolean;
}

/** Works the view out of the last report and the history. Null as long as nothing has been reported. */
export function viewOf(input: ViewInput): RuntimeView | null {
  const { progress, history, document, stale } = input;
  if (progress === null) return null;
  const tasks = progress.tasks.map((task): TaskView => {
    const rate = stale ? null : rateOf(history, (sample) => sample.tasks[task.task]);
    const lag = stale ? null : lagOf(task);
    return { ...task, rate, lag, state: taskState(rate, lag, stale) };
  });
  const ids = new Set<string>([
    ...(document?.nodes.map((node) => node.id) ?? []),
    ...Object.keys(progress.nodes),
  ]);
  const nodes: Record<string, NodeFigures> = {};
  for (const id of ids) nodes[id] = nodeFigures(id, input, progress, tasks);
  return {
    at: progress.at,
    stale,
    nodes,
    tasks,
    stores: progress.stores,
    batch: { number: progress.batch, duration: progress.duration_ms, phases: progress.phases },
    inputRate: stale ? null : progress.input_rate,
  };
}

function nodeFigures(
  id: string,
  input: ViewInput,
  progress: Progress,
  tasks: readonly TaskView[],
): NodeFigures {
  const { deployment, history, document } = input;
  const figures = progress.nodes[id];
  const own = new Set(input.subtopologies[id] ?? []);
  const mine = tasks.filter((task) => own.has(task.subtopology));
  const stores = progress.stores.filter((each) => each.node === id);
  const sum = (of: "rows" | "bytes") => stores.reduce((total, each) => total + each[of], 0);
  const times = mine.map((task) => task.stream_time).filter((time) => time !== null);
  const failure = deployment?.failure;
  return {
    inRate: rateOf(history, (sample) => sample.nodes[id]?.in) ?? 0,
    outRate: rateOf(history, (sample) => sample.nodes[id]?.out) ?? 0,
    inTotal: figures?.in ?? 0,
    outTotal: figures?.out ?? 0,
    dropped: figures?.dropped ?? {},
    lag: document === null ? null : sourceLag(topicsOf(document, id), mine),
    tasks: mine.map((task) => ({ task: task.task, state: task.state })),
    streamTime: times.length === 0 ? null : Math.max(...times),
    storeRows: stores.length === 0 ? null : sum("rows"),
    storeBytes: stores.length === 0 ? null : sum("bytes"),
    failure: failure?.node === id ? failure.message : null,
  };
}

function sourceLag(topics: Set<string>, tasks: readonly TaskView[]): number | null {
  if (topics.size === 0) return null;
  let lag: number | null = null;
  for (const task of tasks) {
    const read = task.topic_partitions.filter((each) => topics.has(each.topic));
    const behind = lagOf({ ...task, topic_partitions: read });
    if (behind !== null) lag = (lag ?? 0) + behind;
  }
  return lag;
}

/** A task that went from one executor to another, or all of them with a new driver. */
export interface Move {
  kind: "move" | "restart";
  at: number;
  task: string;
  from: string;
  to: string;
}

/**
 * Which tasks are on another executor than in the report before.
 *
 * Spark hands a task to any free thread of its executor in each batch, so a change of thread alone is no move.
 */
export function movesBetween(before: Progress | null, after: Progress): Move[] {
  if (before === null) return [];
  const places = new Map(before.tasks.map((task) => [task.task, task.executor]));
  const moves: Move[] = [];
  for (const task of after.tasks) {
    const from = places.get(task.task);
    if (from !== undefined && from !== task.executor) {
      moves.push({ kind: "move", at: after.at, task: task.task, from, to: task.executor });
    }
  }
  return moves;
}
