/**
 * Live figures of the running deployment, apart from the design: they change every second, and the
 * canvas draws them through `subscribeNode` without rendering a node again.
 */

import { create } from "zustand";
import {
  type DocumentEdge,
  edgeId,
  findNode,
  isStoreKind,
  sourcePort,
  type TopologyDocument,
} from "../graph/document";
import { type Phrase, phrase } from "../ui/i18n";

export type TaskState = "running" | "starting" | "degraded" | "failed" | "unknown";

/** The states of a task, under its dot. */
export const TASK_STATES: Readonly<Record<TaskState, Phrase>> = {
  running: phrase("running"),
  starting: phrase("starting"),
  degraded: phrase("degraded"),
  failed: phrase("failed"),
  unknown: phrase("unknown"),
};

interface NodeTask {
  readonly task: string;
  readonly state: TaskState;
  /** Records per second; null where it is not known. */
  readonly rate: number | null;
}

/** Figures of one node. Rates are records per second; totals count since the run started. */
export interface NodeFigures {
  readonly inRate: number;
  readonly outRate: number;
  readonly inTotal: number;
  readonly outTotal: number;
  /** By reason; without dead letters. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Records that went to the topic of dead letters. */
  readonly deadLetters: number;
  /** Records of a source that the broker deleted before they were read. */
  readonly lost: number;
  /** Records not yet read, of a source; null for every other node. */
  readonly lag: number | null;
  readonly tasks: readonly NodeTask[];
  /** The highest stream time of its tasks, epoch milliseconds. */
  readonly streamTime: number | null;
  /** Half and 99 % of the last records took so many ms at most; null where it is not measured. */
  readonly latency: { readonly event: Percentiles; readonly arrival: Percentiles } | null;
  readonly storeRows: number | null;
  readonly storeBytes: number | null;
  /** The error that stopped it, if it is the one that failed. */
  readonly failure: string | null;
}

/** In ms; null without a record in the last seconds. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface RuntimeFigures {
  /** When the figures were taken, epoch milliseconds. */
  readonly at: number;
  /** True if nothing newer has come for longer than it should. */
  readonly stale: boolean;
  readonly nodes: Readonly<Record<string, NodeFigures>>;
}

/** One figure over time, oldest first; at most fifteen minutes. */
export interface HistoryPoint {
  readonly at: number;
  readonly inRate: number;
  readonly outRate: number;
  readonly lag: number | null;
}

const HISTORY_MS = 15 * 60 * 1000;

interface RuntimeState {
  readonly figures: RuntimeFigures | null;
  /** The node at which the deployment failed, until it runs again or is stopped. */
  readonly failed: { readonly node: string; readonly message: string } | null;
  readonly history: Readonly<Record<string, readonly HistoryPoint[]>>;
  /** The task that the pointer is on, in whichever view; the others light the same one. */
  readonly hoveredTask: string | null;
  setFigures(figures: RuntimeFigures | null): void;
  setFailed(failed: RuntimeState["failed"]): void;
  setHoveredTask(task: string | null): void;
}

export const useRuntime = create<RuntimeState>()((set) => ({
  figures: null,
  failed: null,
  history: {},
  hoveredTask: null,
  setFigures: (figures) =>
    set((state) => {
      if (figures === null) return { figures: null, history: {} };
      const history: Record<string, readonly HistoryPoint[]> = {};
      for (const [id, node] of Object.entries(figures.nodes)) {
        const old = state.history[id] ?? [];
        const kept = old.filter((point) => point.at > figures.at - HISTORY_MS);
        const last = kept.at(-1);
        const { inRate, outRate, lag } = node;
        const point = { at: figures.at, inRate, outRate, lag };
        history[id] = last !== undefined && last.at >= figures.at ? kept : [...kept, point];
      }
      return { figures, history };
    }),
  setFailed: (failed) => set({ failed }),
  setHoveredTask: (hoveredTask) => set({ hoveredTask }),
}));

/** Calls back with the figures of one node now and whenever they change; returns how to stop. */
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

/** Whose figures are those of an edge: what enters its target, or what leaves its source; null where neither is known for it alone. */
function figuresOfEdge(
  document: TopologyDocument,
  edge: Pick<DocumentEdge, "source" | "target">,
): { readonly node: string; readonly side: "in" | "out" } | null {
  const kind = (node: string) => findNode(document, node)?.kind ?? "";
  const records = document.edges.filter((each) => !isStoreKind(kind(each.source)));
  if (records.filter((each) => each.target === edge.target).length === 1) {
    return { node: edge.target, side: "in" };
  }
  const ports = records.filter((each) => each.source === edge.source).map(sourcePort);
  const one = new Set(ports).size === 1 && kind(edge.source) !== "split";
  return one ? { node: edge.source, side: "out" } : null;
}

/** Records over an edge since the driver started, and now a second; null where it is not known. */
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

/** The edge of that id; null for one that joins a store, over which no records go. */
export function edgeWithRecords(document: TopologyDocument, id: string): DocumentEdge | null {
  const edge = document.edges.find((each) => edgeId(each) === id);
  if (edge === undefined) return null;
  return isStoreKind(findNode(document, edge.source)?.kind ?? "") ? null : edge;
}
