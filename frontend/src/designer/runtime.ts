/**
 * Live figures of the running deployment. They are kept apart from the design because they change every second: the
 * canvas draws them through `subscribeNode`, without rendering nodes again.
 */

import { create } from "zustand";
import type { Sentence } from "../api/types";
import {
  type DocumentEdge,
  edgeId,
  findNode,
  isStoreKind,
  sourcePort,
  type TopologyDocument,
} from "../graph/document";
import { type Phrase, phrase } from "../ui/i18n";

export type TaskState = "running" | "asleep" | "starting" | "degraded" | "failed" | "unknown";

/** Names of the states of a task, shown under its dot. */
export const TASK_STATES: Readonly<Record<TaskState, Phrase>> = {
  running: phrase("running"),
  asleep: phrase("asleep"),
  starting: phrase("starting"),
  degraded: phrase("degraded"),
  failed: phrase("failed"),
  unknown: phrase("unknown"),
};

interface NodeTask {
  readonly task: string;
  readonly state: TaskState;
  /** Records per second; null if unknown. */
  readonly rate: number | null;
}

/** Figures of one node. Rates are records per second; totals count since the run started. */
export interface NodeFigures {
  readonly inRate: number;
  readonly outRate: number;
  readonly inTotal: number;
  readonly outTotal: number;
  /** Counts by reason, excluding dead letters. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Records for which an inner join found nothing on the other side, by reason. They count as no drops. */
  readonly misses: Readonly<Record<string, number>>;
  /** Records that were sent to the dead letter topic. */
  readonly deadLetters: number;
  /** Records of a source that the broker deleted before they were read. */
  readonly lost: number;
  /** Records that a source has not read yet; null for every other node. */
  readonly lag: number | null;
  readonly tasks: readonly NodeTask[];
  /** The highest stream time of the node's tasks, in epoch milliseconds. */
  readonly streamTime: number | null;
  /** Latency of recent records by event time and by arrival; null if not measured. */
  readonly latency: { readonly event: Percentiles; readonly arrival: Percentiles } | null;
  readonly storeRows: number | null;
  readonly storeBytes: number | null;
  /** The error that stopped the deployment, if it happened at this node. */
  readonly failure: string | null;
}

/** In milliseconds; null if there were no records in the last seconds. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface RuntimeFigures {
  /** When the figures were taken, in epoch milliseconds. */
  readonly at: number;
  /** True if newer figures are overdue. */
  readonly stale: boolean;
  readonly nodes: Readonly<Record<string, NodeFigures>>;
}

/** A point in the history of a node's figures, which is kept for fifteen minutes at most, oldest point first. */
export interface HistoryPoint {
  readonly at: number;
  readonly inRate: number;
  readonly outRate: number;
  readonly lag: number | null;
}

/** A running version that differs from the topology on the canvas: figures and expressions are of the version. */
export interface RunningVersion {
  readonly version: number;
  /** Nodes of both that differ: the label and the sentence that they have in the version. */
  readonly changed: Readonly<
    Record<string, { readonly label: string; readonly summary: Sentence | null }>
  >;
  /** Nodes on the canvas that the version does not have. */
  readonly drawnOnly: ReadonlySet<string>;
  /** The names of nodes that only the version has. */
  readonly runningOnly: readonly string[];
}

const HISTORY_MS = 15 * 60 * 1000;
/** The shortest time between two points, if reports come more often. */
const POINT_MS = 900;
/** Points that are too old are removed this many at a time, because there are as many histories as nodes. */
const SLACK = 30;

interface RuntimeState {
  readonly figures: RuntimeFigures | null;
  /** The node at which the deployment failed, until it runs again or is stopped. */
  /** `inner`: the node that failed, if it is within a fragment. */
  readonly failed: {
    readonly node: string;
    readonly inner?: string;
    readonly message: string;
  } | null;
  readonly history: Readonly<Record<string, readonly HistoryPoint[]>>;
  /** When the last points of `history` were taken. */
  readonly sampledAt: number;
  /** Null if the canvas shows the nodes of the version that runs, or nothing runs. */
  readonly running: RunningVersion | null;
  /** The sentences of nodes with the values of the environment in which they run; null without one. */
  readonly sentences: Readonly<Record<string, Sentence>> | null;
  /** The task under the pointer in any view; all views highlight it. */
  readonly hoveredTask: string | null;
  setFigures(figures: RuntimeFigures | null): void;
  setFailed(failed: RuntimeState["failed"]): void;
  setRunning(running: RunningVersion | null): void;
  setSentences(sentences: RuntimeState["sentences"]): void;
  setHoveredTask(task: string | null): void;
}

function recent(points: readonly HistoryPoint[], now: number): readonly HistoryPoint[] {
  const oldest = now - HISTORY_MS;
  if ((points[SLACK]?.at ?? now) >= oldest) return points;
  return points.slice(points.findIndex((point) => point.at >= oldest));
}

export const useRuntime = create<RuntimeState>()((set) => ({
  figures: null,
  failed: null,
  history: {},
  sampledAt: 0,
  running: null,
  sentences: null,
  hoveredTask: null,
  setFigures: (figures) =>
    set((state) => {
      if (figures === null) return { figures: null, history: {}, sampledAt: 0 };
      if (figures.at < state.sampledAt + POINT_MS) return { figures };
      const history: Record<string, readonly HistoryPoint[]> = {};
      for (const [id, { inRate, lag, outRate }] of Object.entries(figures.nodes)) {
        const old = state.history[id] ?? [];
        history[id] = [...recent(old, figures.at), { at: figures.at, inRate, outRate, lag }];
      }
      return { figures, history, sampledAt: figures.at };
    }),
  setFailed: (failed) => set({ failed }),
  setRunning: (running) => set({ running }),
  setSentences: (sentences) => set({ sentences }),
  setHoveredTask: (hoveredTask) => set({ hoveredTask }),
}));

/** Calls `listener` with a node's figures now and whenever they change; returns a function that unsubscribes. */
export function subscribeNode(id: string, listener: (figures: NodeFigures | null) => void) {
  const read = () => useRuntime.getState().figures?.nodes[id] ?? null;
  let last = read();
  listener(last);
  return useRuntime.subscribe(() => {
    const next = read();
    if (next === last) return;
    last = next;
    listener(next);
  });
}

interface Wiring {
  /** The number of edges with records into each node. */
  readonly inputs: ReadonlyMap<string, number>;
  /** The output ports of each node from which there are edges. */
  readonly outputs: ReadonlyMap<string, ReadonlySet<string>>;
  readonly splits: ReadonlySet<string>;
}

const wirings = new WeakMap<TopologyDocument, Wiring>();

/** What `figuresOfEdge` needs of a document, found once: it is asked for every edge with every report. */
function wiringOf(document: TopologyDocument): Wiring {
  const known = wirings.get(document);
  if (known !== undefined) return known;
  const kinds = new Map(document.nodes.map((node) => [node.id, node.kind]));
  const inputs = new Map<string, number>();
  const outputs = new Map<string, Set<string>>();
  for (const edge of document.edges) {
    if (isStoreKind(kinds.get(edge.source) ?? "")) continue;
    inputs.set(edge.target, (inputs.get(edge.target) ?? 0) + 1);
    outputs.set(edge.source, (outputs.get(edge.source) ?? new Set()).add(sourcePort(edge)));
  }
  const splits = new Set([...kinds].flatMap(([id, kind]) => (kind === "split" ? [id] : [])));
  const found = { inputs, outputs, splits };
  wirings.set(document, found);
  return found;
}

/** The node and side whose figures equal those of an edge; null if no figures belong to the edge alone. */
function figuresOfEdge(
  document: TopologyDocument,
  edge: Pick<DocumentEdge, "source" | "target">,
): { readonly node: string; readonly side: "in" | "out" } | null {
  const { inputs, outputs, splits } = wiringOf(document);
  if (inputs.get(edge.target) === 1) return { node: edge.target, side: "in" };
  const one = outputs.get(edge.source)?.size === 1 && !splits.has(edge.source);
  return one ? { node: edge.source, side: "out" } : null;
}

/** Records over an edge: the total since the driver started, and the rate per second; null if unknown. */
export function edgeFigures(
  document: TopologyDocument,
  edge: Pick<DocumentEdge, "source" | "target">,
  figures: RuntimeFigures | null,
): { readonly total: number; readonly rate: number } | null {
  // An edge to or from a node that is not deployed has no records.
  const ends = [edge.source, edge.target];
  if (ends.some((node) => figures?.nodes[node] === undefined)) return null;
  const whose = figuresOfEdge(document, edge);
  const own = whose === null ? undefined : figures?.nodes[whose.node];
  if (whose === null || own === undefined) return null;
  return whose.side === "in"
    ? { total: own.inTotal, rate: own.inRate }
    : { total: own.outTotal, rate: own.outRate };
}

/** The edge with an id; null for an edge to a store, which carries no records. */
export function edgeWithRecords(document: TopologyDocument, id: string): DocumentEdge | null {
  const edge = document.edges.find((each) => edgeId(each) === id);
  if (edge === undefined) return null;
  return isStoreKind(findNode(document, edge.source)?.kind ?? "") ? null : edge;
}
