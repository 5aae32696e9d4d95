/** Live events: a snapshot, then server-sent events that change it. */

import type {
  Deployment,
  LogLine,
  Presence,
  Progress,
  RuntimeSnapshot,
  TopologySummary,
  VersionSummary,
} from "./types";

export interface LiveSnapshot {
  topology?: TopologySummary | null;
  deployment?: Deployment | null;
  deployments?: Deployment[];
  runtime?: RuntimeSnapshot | null;
  presence?: Presence["users"];
}

export type LiveEvent =
  | { type: "snapshot"; data: LiveSnapshot }
  | { type: "deployment.changed"; data: Deployment }
  | { type: "runtime.progress"; data: Progress & { deployment?: number } }
  | { type: "runtime.log"; data: LogLine & { deployment?: number } }
  | { type: "version.created"; data: VersionSummary }
  | { type: "draft.changed"; data: { user?: string; user_id?: number } }
  | { type: "presence"; data: Presence };

const EVENT_TYPES: readonly LiveEvent["type"][] = [
  "snapshot",
  "deployment.changed",
  "runtime.progress",
  "runtime.log",
  "version.created",
  "draft.changed",
  "presence",
];

export type Connection = "connecting" | "open" | "lost";

export interface LiveState {
  topology: TopologySummary | null;
  deployment: Deployment | null;
  progress: Progress | null;
  /** The server's word on the last report: too old to be the truth. */
  stale: boolean;
  presence: Presence["users"];
}

export const EMPTY_LIVE: LiveState = {
  topology: null,
  deployment: null,
  progress: null,
  stale: false,
  presence: [],
};

/** One event applied. Applying all events to a snapshot gives what a fresh snapshot would say. */
export function applyEvent(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case "snapshot": {
      const { runtime } = event.data;
      return {
        topology: event.data.topology ?? null,
        deployment: event.data.deployment ?? null,
        progress: runtime ?? null,
        stale: runtime?.stale ?? false,
        presence: event.data.presence ?? [],
      };
    }
    case "deployment.changed":
      return withDeployment(state, event.data);
    case "runtime.progress":
      return { ...state, progress: event.data, stale: false };
    case "version.created":
      return state.topology === null
        ? state
        : { ...state, topology: { ...state.topology, latest_version: event.data.number } };
    case "presence":
      return { ...state, presence: event.data.users };
    default:
      return state;
  }
}

function withDeployment(state: LiveState, deployment: Deployment): LiveState {
  // Another, older deployment of the topology may still be winding down: the newest one counts.
  if (state.deployment !== null && deployment.id < state.deployment.id) return state;
  const sameRun =
    state.deployment?.id === deployment.id && state.deployment.run?.id === deployment.run?.id;
  const topology =
    state.topology === null
      ? null
      : {
          ...state.topology,
          deployment: {
            id: deployment.id,
            observed: deployment.observed,
            desired: deployment.desired,
            version: deployment.version,
          },
        };
  return { ...state, topology, deployment, progress: sameRun ? state.progress : null };
}

export interface Subscription {
  close(): void;
}

/**
 * Listens to `url` until closed.
 *
 * The browser reconnects by itself after a dropped connection and sends `Last-Event-ID`; after an answer that is no event
 * stream (a restarting server behind a proxy) it gives up, so this opens it anew, after 1, 2, 4 … 15 s.
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
  open();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      source?.close();
    },
  };
}

function parse(type: LiveEvent["type"], text: string): LiveEvent | null {
  try {
    return { type, data: JSON.parse(text) } as LiveEvent;
  } catch {
    // A message cut off by a dying connection: the next snapshot repairs it.
    return null;
  }
}
