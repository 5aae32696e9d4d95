/** Live events: a snapshot, then server-sent events that change it. */

import type {
  Deployment,
  LiveSnapshot,
  LogLine,
  PresentUser,
  Runtime,
  TopologySummary,
  VersionSummary,
} from "./types";

/** Where a person's pointer is in the drawing; null if it left. */
export interface Cursor {
  readonly user: number;
  readonly at: readonly [x: number, y: number] | null;
}

export type LiveEvent =
  | { type: "snapshot"; data: LiveSnapshot }
  | { type: "deployment.changed"; data: Deployment }
  | { type: "deployment.deleted"; data: { id: number } }
  | { type: "topology.changed"; data: TopologySummary }
  | { type: "topology.deleted"; data: { id: number } }
  | { type: "runtime.progress"; data: Runtime }
  | { type: "runtime.log"; data: LogLine }
  | { type: "version.created"; data: VersionSummary }
  | { type: "version.approved"; data: { number: number } }
  | { type: "comments.changed"; data: { topology: number } }
  | { type: "draft.changed"; data: { user?: string } }
  | { type: "presence"; data: { users: PresentUser[] } }
  | { type: "cursor"; data: Cursor };

const EVENT_TYPES: readonly LiveEvent["type"][] = [
  "snapshot",
  "deployment.changed",
  "deployment.deleted",
  "topology.changed",
  "topology.deleted",
  "runtime.progress",
  "runtime.log",
  "version.created",
  "version.approved",
  "comments.changed",
  "draft.changed",
  "presence",
  "cursor",
];

export type Connection = "connecting" | "open" | "lost";

export interface LiveState {
  topology: TopologySummary | null;
  /** The topology was deleted while it was open. */
  deleted: boolean;
  deployment: Deployment | null;
  runtime: Runtime | null;
  presence: readonly PresentUser[];
}

export const EMPTY_LIVE: LiveState = {
  topology: null,
  deleted: false,
  deployment: null,
  runtime: null,
  presence: [],
};

/** Applies one event. Applying all events to a snapshot gives the same state as a fresh snapshot. */
export function applyEvent(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case "snapshot": {
      const { topology, deployment, runtime, presence } = event.data;
      return { topology, deleted: false, deployment, runtime, presence };
    }
    case "deployment.changed":
      return withDeployment(state, event.data);
    case "deployment.deleted":
      return event.data.id === state.deployment?.id
        ? {
            ...state,
            deployment: null,
            runtime: null,
            topology: state.topology && { ...state.topology, deployment: null },
          }
        : state;
    case "topology.changed":
      return { ...state, topology: event.data };
    case "topology.deleted":
      return { ...state, deleted: true };
    case "runtime.progress":
      return { ...state, runtime: event.data };
    case "presence":
      return { ...state, presence: event.data.users };
    default:
      return state;
  }
}

function withDeployment(state: LiveState, deployment: Deployment): LiveState {
  const before = state.deployment;
  // An older deployment of the topology may still be shutting down, and responses may arrive out of order.
  if (before !== null && deployment.id < before.id) return state;
  if (before?.id === deployment.id && deployment.revision < before.revision) return state;
  const sameRun =
    before?.id === deployment.id && before.run?.report_id === deployment.run?.report_id;
  const { id, observed, desired, version } = deployment;
  return {
    ...state,
    topology: state.topology && {
      ...state.topology,
      deployment: { id, observed, desired, version },
    },
    deployment,
    runtime: sameRun ? state.runtime : null,
  };
}

interface Subscription {
  close(): void;
}

/**
 * Listens to `url` until closed.
 *
 * The browser reconnects by itself after a dropped connection and sends `Last-Event-ID`. After a response that is not
 * an event stream, such as from a proxy whose server restarts, it gives up; this then reconnects after 1, 2, 4 … 15 s.
 *
 * A page in the background does not listen: browsers open at most six connections to a server, across all tabs, and a
 * seventh tab would wait forever. When the page returns, a snapshot brings it up to date.
 */
export function subscribe(
  url: string,
  onEvent: (event: LiveEvent) => void,
  onConnection: (connection: Connection) => void,
): Subscription {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = 1_000;
  let closed = false;

  const open = () => {
    if (document.hidden) return;
    onConnection("connecting");
    const current = new EventSource(url, { withCredentials: true });
    source = current;
    current.onopen = () => {
      wait = 1_000;
      onConnection("open");
    };
    current.onerror = () => {
      if (closed) return;
      onConnection("lost");
      if (current.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, 15_000);
    };
    for (const type of EVENT_TYPES) {
      current.addEventListener(type, (message) => {
        const event = parse(type, (message as MessageEvent<string>).data);
        if (event !== null) onEvent(event);
      });
    }
  };
  const rest = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const watch = () => {
    rest();
    wait = 1_000;
    open();
  };
  document.addEventListener("visibilitychange", watch);
  open();
  return {
    close: () => {
      closed = true;
      document.removeEventListener("visibilitychange", watch);
      rest();
    },
  };
}

function parse(type: LiveEvent["type"], text: string): LiveEvent | null {
  try {
    return { type, data: JSON.parse(text) } as LiveEvent;
  } catch {
    // A dropped connection cut this message off; the next snapshot repairs the state.
    return null;
  }
}
