import { isSourceKind } from "../graph/kinds";
/** Figures of a running deployment for the canvas, the assignment and the inspector, from the last report. */

import { describeCause } from "../api/prose";
import type { Deployment, Runtime, TaskReport, TopologyDocument } from "../api/types";
import type { NodeFigures, RuntimeFigures, TaskState } from "../designer/runtime";
import type { Deployed } from "./deployed";
import { isPlain } from "./dialect";

export interface TaskView extends TaskReport {
  /** Records behind the end of its partitions; null if unknown or if the task reads none. */
  readonly lag: number | null;
  readonly state: TaskState;
}

export interface RuntimeView extends RuntimeFigures {
  readonly tasks: readonly TaskView[];
  readonly stores: Runtime["stores"];
  /** The last micro-batch; null before the first has ended, and in real time, which has none. */
  readonly batch: {
    readonly number: number;
    readonly duration: number | null;
    readonly phases: Readonly<Record<string, number>>;
  } | null;
  readonly realTime: boolean;
  readonly lost: Runtime["lost"];
}

/** Milliseconds without a report, which should arrive every second, after which figures count as stale. */
export const STALE_AFTER = 5_000;

export function lagOf(partitions: TaskReport["topic_partitions"]): number | null {
  let lag: number | null = null;
  for (const each of partitions) {
    const behind =
      each.lag ??
      (each.end_offset !== null && each.offset !== null ? each.end_offset - each.offset : null);
    if (behind !== null) lag = (lag ?? 0) + Math.max(0, behind);
  }
  return lag;
}

/** A task is degraded if its lag exceeds both 1,000 records and ten seconds of its own rate. */
function stateOf(
  rate: number | null,
  lag: number | null,
  stale: boolean,
  asleep: boolean,
): TaskState {
  if (stale) return "unknown";
  if (asleep) return "asleep";
  return lag !== null && lag > 1000 && lag > 10 * (rate ?? 0) ? "degraded" : "running";
}

export interface ViewInput {
  readonly deployment: Deployment;
  readonly runtime: Runtime | null;
  /** The running version; null while it is loading. A node that it does not contain has no figures. */
  readonly deployed: Pick<Deployed, "document" | "subtopologies"> | null;
  /** Whether the figures are too old, according to the server or because the connection was lost. */
  readonly stale: boolean;
}

/** Computes the view from the last report; null if there is none yet. */
export function viewOf(input: ViewInput): RuntimeView | null {
  const { runtime, deployed, stale } = input;
  if (runtime === null) return null;
  const asleep = input.deployment.observed === "asleep";
  const tasks = runtime.tasks.map((task): TaskView => {
    const rate = stale ? null : task.rate;
    const lag = stale ? null : lagOf(task.topic_partitions);
    return { ...task, rate, lag, state: stateOf(rate, lag, stale, asleep) };
  });
  // Plain PySpark reports figures only for sources and queries.
  const all = (deployed?.document.nodes ?? []).map((node) => node.id);
  const failed = input.deployment.failure?.node;
  const drawn = isPlain(input.deployment.settings) ? all.filter((id) => id === failed) : all;
  // Stores within fragments are not drawn.
  const shown = deployed !== null && !isPlain(input.deployment.settings);
  const stores = shown ? runtime.stores.map(({ node }) => node) : [];
  const ids = new Set([...drawn, ...Object.keys(runtime.nodes), ...stores]);
  const parts = partsOf(input, runtime, tasks);
  const nodes: Record<string, NodeFigures> = {};
  for (const id of ids) nodes[id] = nodeFigures(id, input, runtime, parts);
  const realTime = input.deployment.settings.real_time_ms !== undefined;
  const { batch: number, duration_ms: duration, phases } = runtime;
  return {
    at: runtime.at,
    stale,
    nodes,
    tasks,
    stores: runtime.stores,
    batch: number === null || realTime ? null : { number, duration, phases },
    realTime,
    lost: runtime.lost,
  };
}

/** The sum of the known values; null if none is known. */
function total(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** The node at which a deployment failed and the reason; null if it is not failed or no node caused it. */
export function failedAt(deployment: Deployment | null): { node: string; message: string } | null {
  if (deployment?.observed !== "failed" || deployment.failure?.node == null) return null;
  return { node: deployment.failure.node, message: describeCause(deployment.failure) };
}

/** Parts of a report by what they belong to: there may be hundreds of nodes and of tasks. */
interface Parts {
  readonly tasks: ReadonlyMap<number, SubtopologyTasks>;
  readonly stores: ReadonlyMap<string, Runtime["stores"]>;
  readonly topics: ReadonlyMap<string, ReadonlySet<string>>;
}

interface SubtopologyTasks {
  readonly tasks: readonly TaskView[];
  readonly shown: NodeFigures["tasks"];
  readonly streamTime: number | null;
}

const NO_TASKS: SubtopologyTasks = { tasks: [], shown: [], streamTime: null };
const NO_STORES: Runtime["stores"] = [];
const NO_TOPICS: ReadonlySet<string> = new Set();

function partsOf({ deployed }: ViewInput, runtime: Runtime, tasks: readonly TaskView[]): Parts {
  const byPart = new Map(
    [...grouped(tasks, (task) => task.subtopology)].map(([part, mine]) => {
      const times = mine.map((task) => task.stream_time).filter((time) => time !== null);
      const shown = mine.map(({ rate, state, task }) => ({ task, state, rate }));
      const streamTime = times.length === 0 ? null : Math.max(...times);
      return [part, { tasks: mine, shown, streamTime }];
    }),
  );
  const stores = grouped(runtime.stores, (store) => store.node);
  return {
    tasks: byPart,
    stores,
    topics: deployed === null ? new Map() : topicsOf(deployed.document),
  };
}

function grouped<T, Key>(all: readonly T[], key: (one: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group === undefined) groups.set(key(one), [one]);
    else group.push(one);
  }
  return groups;
}

function nodeFigures(id: string, input: ViewInput, runtime: Runtime, parts: Parts): NodeFigures {
  const figures = runtime.nodes[id];
  // An operator that repartitions begins in one sub-topology and does its work in the next.
  const own = input.deployed?.subtopologies[id]?.at(-1);
  const mine = (own === undefined ? undefined : parts.tasks.get(own)) ?? NO_TASKS;
  const stores = parts.stores.get(id) ?? NO_STORES;
  const { failure } = input.deployment;
  const topics = parts.topics.get(id) ?? NO_TOPICS;
  return {
    inRate: figures?.in_rate ?? 0,
    outRate: figures?.out_rate ?? 0,
    inTotal: figures?.in ?? 0,
    outTotal: figures?.out ?? 0,
    dropped: figures?.dropped ?? {},
    misses: figures?.misses ?? {},
    deadLetters: figures?.dead_letters ?? 0,
    lag: sourceLag(topics, [...mine.tasks, runtime]),
    lost: runtime.lost
      .filter((each) => topics.has(each.topic))
      .reduce((sum, each) => sum + each.records, 0),
    tasks: mine.shown,
    streamTime: mine.streamTime,
    latency: figures?.latency ?? null,
    storeRows: total(stores.map((store) => store.rows)),
    storeBytes: total(stores.map((store) => store.bytes)),
    failure: failure?.node === id ? describeCause(failure) : null,
  };
}

const known = new WeakMap<TopologyDocument, ReadonlyMap<string, ReadonlySet<string>>>();

/** The topics of each source. */
function topicsOf(document: TopologyDocument): ReadonlyMap<string, ReadonlySet<string>> {
  const before = known.get(document);
  if (before !== undefined) return before;
  const found = new Map(
    document.nodes
      .filter(({ kind }) => isSourceKind(kind))
      .map(({ id, params = {} }): [string, ReadonlySet<string>] => {
        const topics = Array.isArray(params.topics) ? params.topics : [params.topic];
        return [id, new Set(topics.filter((topic) => typeof topic === "string"))];
      }),
  );
  known.set(document, found);
  return found;
}

/** The lag of a source, over tasks or, for a program without tasks, over the whole report. */
function sourceLag(
  topics: ReadonlySet<string>,
  readers: readonly Pick<TaskReport, "topic_partitions">[],
): number | null {
  if (topics.size === 0) return null;
  return total(
    readers.map((task) => lagOf(task.topic_partitions.filter((each) => topics.has(each.topic)))),
  );
}

/** A task that moved to another executor, or a restart of the driver, which moves all tasks. */
export interface Move {
  readonly kind: "move" | "restart";
  readonly at: number;
  readonly task: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The tasks that are on another executor than in the previous report. A change of thread alone is not a move, because
 * in each batch Spark assigns a task to any free thread of its executor.
 */
export function movesBetween(before: Runtime | null, after: Runtime): Move[] {
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
