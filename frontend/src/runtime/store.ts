/** The live state of the topology that is open: its deployment, the last report, the history since the page opened. */

import { create } from "zustand";
import {
  applyEvent,
  type Connection,
  EMPTY_LIVE,
  type LiveEvent,
  type LiveState,
} from "../api/live";
import type { Deployment, LogLine } from "../api/types";
import { type Move, movesBetween, remember, type Sample, sampleOf } from "./view";

const MAX_LOG_LINES = 2_000;
const MAX_MOVES = 200;

interface LiveStore extends LiveState {
  connection: Connection;
  history: readonly Sample[];
  moves: readonly Move[];
  /** Threads seen per executor, so that a row of the assignment does not vanish while its thread rests. */
  threads: Readonly<Record<string, readonly string[]>>;
  logs: readonly LogLine[];
  /** When the last report arrived, by this machine's clock: staleness must not depend on two clocks. */
  receivedAt: number | null;
  /** Counts versions and drafts that others made while this page was open. */
  foreign: { version: number | null; draft: string | null };
  receive(event: LiveEvent): void;
  setConnection(connection: Connection): void;
  reset(): void;
}

const START = {
  ...EMPTY_LIVE,
  connection: "connecting" as Connection,
  history: [],
  moves: [],
  threads: {},
  logs: [],
  receivedAt: null,
  foreign: { version: null, draft: null },
};

export const useLive = create<LiveStore>()((set) => ({
  ...START,
  receive: (event) =>
    set((state) => {
      const next: Partial<LiveStore> = applyEvent(state, event);
      if (event.type === "runtime.progress" || event.type === "snapshot") {
        Object.assign(next, withReport(state, next as LiveState, event.type === "snapshot"));
      }
      if (event.type === "deployment.changed" && next.progress === null) {
        Object.assign(next, { history: [], threads: {}, receivedAt: null });
      }
      if (event.type === "deployment.changed" && isNewDriver(state, event.data)) {
        const move: Move = { kind: "restart", at: Date.now(), task: "", from: "", to: "" };
        next.moves = [...state.moves, move].slice(-MAX_MOVES);
      }
      if (event.type === "runtime.log") {
        next.logs = [...state.logs, event.data].slice(-MAX_LOG_LINES);
      }
      if (event.type === "version.created") {
        next.foreign = { ...state.foreign, version: event.data.number };
      }
      if (event.type === "draft.changed") {
        next.foreign = { ...state.foreign, draft: event.data.user ?? null };
      }
      return next;
    }),
  setConnection: (connection) => set({ connection }),
  reset: () => set(START),
}));

/** The same deployment with another driver process: it came back after a crash, or was deployed anew. */
function isNewDriver(state: LiveState, deployment: Deployment): boolean {
  const before = state.deployment;
  const pid = deployment.run?.pid ?? null;
  const old = before?.run?.pid ?? null;
  return before?.id === deployment.id && pid !== null && old !== null && pid !== old;
}

function withReport(state: LiveStore, next: LiveState, fresh: boolean): Partial<LiveStore> {
  const { progress } = next;
  if (progress === null) return { history: [], threads: {}, receivedAt: null };
  const threads: Record<string, readonly string[]> = { ...state.threads };
  for (const task of progress.tasks) {
    const known = threads[task.executor] ?? [];
    if (!known.includes(task.thread)) {
      threads[task.executor] = [...known, task.thread].sort((a, b) =>
        a.localeCompare(b, undefined, { numeric: true }),
      );
    }
  }
  const moves = fresh ? [] : movesBetween(state.progress, progress);
  return {
    history: remember(state.history, sampleOf(progress)),
    threads,
    moves: [...state.moves, ...moves].slice(-MAX_MOVES),
    receivedAt: Date.now(),
  };
}
