/** The live state of the open topology: deployment, last report, and the events since the page was opened. */

import { create } from "zustand";
import {
  applyEvent,
  type Connection,
  type Cursor,
  EMPTY_LIVE,
  type LiveEvent,
  type LiveState,
} from "../api/live";
import type { Deployment, LogLine } from "../api/types";
import { type Move, movesBetween } from "./view";

const MAX_LOG_LINES = 2_000;
const MAX_MOVES = 200;

interface LiveStore extends LiveState {
  readonly connection: Connection;
  readonly moves: readonly Move[];
  /** All threads seen on each executor, so that an idle thread's row does not disappear. */
  readonly threads: Readonly<Record<string, readonly string[]>>;
  readonly logs: readonly LogLine[];
  /** When the last report arrived, by this machine's clock: staleness must not be computed from two clocks. */
  readonly receivedAt: number | null;
  /** The newest version reported by the server since this page was opened. */
  readonly newestVersion: number | null;
  /** Changes of comments, and of approvals of versions, since this page was opened. */
  readonly comments: number;
  readonly approvals: number;
  /** The last report of where somebody's pointer is. */
  readonly cursor: Cursor | null;
  /** The process id of the last run, because between two runs the deployment has none. */
  readonly lastPid: number | null;
  receive(event: LiveEvent): void;
  /** Shows another deployment of the topology; its reports follow. */
  show(deployment: number): void;
  setConnection(connection: Connection): void;
  reset(): void;
}

const START = {
  ...EMPTY_LIVE,
  connection: "connecting" as Connection,
  moves: [],
  threads: {},
  logs: [],
  receivedAt: null,
  newestVersion: null,
  comments: 0,
  approvals: 0,
  cursor: null,
  lastPid: null,
};

export const useLive = create<LiveStore>()((set) => ({
  ...START,
  receive: (event) => set((state) => next(state, event)),
  show: (deployment) => set((state) => shown(state, deployment)),
  setConnection: (connection) => set({ connection }),
  reset: () => set(START),
}));

function shown(state: LiveStore, id: number): Partial<LiveStore> {
  const deployment = state.deployments.find((each) => each.id === id);
  if (deployment === undefined || deployment.id === state.deployment?.id) return {};
  const nothing = { runtime: null, threads: {}, receivedAt: null, moves: [], logs: [] };
  return { ...nothing, deployment, lastPid: deployment.run?.pid ?? null };
}

function next(state: LiveStore, event: LiveEvent): Partial<LiveStore> {
  const live = applyEvent(state, event);
  const ended = live.runtime === null ? { threads: {}, receivedAt: null } : {};
  switch (event.type) {
    case "snapshot":
      return { ...live, ...ended, ...withReport(state, live, true), ...withVersion(state, live) };
    case "runtime.progress":
      return { ...live, ...ended, ...withReport(state, live, false) };
    case "deployment.changed":
      return { ...live, ...ended, ...withRestart(state, event.data) };
    case "runtime.log":
      return { logs: [...state.logs, event.data].slice(-MAX_LOG_LINES) };
    case "version.created":
      return { newestVersion: Math.max(state.newestVersion ?? 0, event.data.number) };
    case "comments.changed":
      return { comments: state.comments + 1 };
    case "cursor":
      return { cursor: event.data };
    case "version.approved":
      return { approvals: state.approvals + 1 };
    default:
      return live === state ? {} : { ...live, ...ended };
  }
}

/** Detects a version that was saved while the page was not listening. */
function withVersion(state: LiveStore, live: LiveState): Partial<LiveStore> {
  const before = state.topology?.latest_version ?? null;
  const latest = live.topology?.latest_version ?? null;
  return state.topology !== null && latest !== null && latest > (before ?? 0)
    ? { newestVersion: latest }
    : {};
}

/** Records a restart: another process id means that the driver was restarted after a crash or redeployed. */
function withRestart(state: LiveStore, deployment: Deployment): Partial<LiveStore> {
  const before = state.deployment;
  if (before !== null && before.id !== deployment.id) return {};
  const pid = deployment.run?.pid ?? null;
  const old = before?.run?.pid ?? state.lastPid;
  if (before?.id !== deployment.id) return { lastPid: pid };
  if (pid === null || old === null || pid === old) return { lastPid: pid ?? old };
  const move: Move = { kind: "restart", at: Date.now(), task: "", from: "", to: "" };
  return { lastPid: pid, moves: [...state.moves, move].slice(-MAX_MOVES) };
}

function withReport(state: LiveStore, live: LiveState, fresh: boolean): Partial<LiveStore> {
  const { runtime } = live;
  if (runtime === null) return {};
  const threads: Record<string, readonly string[]> = { ...state.threads };
  for (const task of runtime.tasks) {
    const known = threads[task.executor] ?? [];
    if (!known.includes(task.thread)) threads[task.executor] = [...known, task.thread];
  }
  const moves = fresh ? [] : movesBetween(state.runtime, runtime);
  // A snapshot with a stale report contains no news: the report arrived long ago.
  const received = runtime.stale ? state.receivedAt : Date.now();
  return { threads, moves: [...state.moves, ...moves].slice(-MAX_MOVES), receivedAt: received };
}
