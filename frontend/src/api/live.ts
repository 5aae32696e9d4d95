/** Live events: a snapshot, then server-sent events that change it. */

import type {
  Deployment,
  DeploymentBrief,
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
  /** The one that the page shows. */
  deployment: Deployment | null;
  /** All of the topology, one for each environment, newest first. */
  deployments: readonly Deployment[];
  runtime: Runtime | null;
  presence: readonly PresentUser[];
}

export const EMPTY_LIVE: LiveState = {
  topology: null,
  deleted: false,
  deployment: null,
  deployments: [],
  runtime: null,
  presence: [],
};

/** A topology with the present state of one of its deployments; null: it was deleted. */
export function withBrief(
  topology: TopologySummary,
  id: number,
  deployment: Deployment | null,
): TopologySummary {
  const others = topology.deployments.filter((each) => each.id !== id);
  const now: DeploymentBrief[] =
    deployment === null
      ? []
      : [
          {
            id,
            observed: deployment.observed,
            desired: deployment.desired,
            version: deployment.version,
            environment: deployment.settings.environment ?? null,
          },
        ];
  const deployments = [...others, ...now].sort((one, other) => other.id - one.id);
  return { ...topology, deployments, deployment: deployments[0] ?? null };
}

/** Applies one event. Applying all events to a snapshot gives the same state as a fresh snapshot. */
export function applyEvent(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case "snapshot": {
      const { topology, deployment, deployments, runtime, presence } = event.data;
      return { topology, deleted: false, deployment, deployments, runtime, presence };
    }
    case "deployment.changed":
      return withDeployment(state, event.data);
    case "deployment.deleted":
      return withoutDeployment(state, event.data.id);
    case "topology.changed":
      return { ...state, topology: event.data };
    case "topology.deleted":
      return { ...state, deleted: true };
    case "runtime.progress":
      // A report of the deployment that was shown before may still arrive.
      return state.deployment !== null && event.data.deployment !== state.deployment.id
        ? state
        : { ...state, runtime: event.data };
    case "presence":
      return { ...state, presence: event.data.users };
    default:
      return state;
  }
}

function withDeployment(state: LiveState, deployment: Deployment): LiveState {
  const known = state.deployments.find((each) => each.id === deployment.id);
  // Responses may arrive out of order.
  if (known !== undefined && deployment.revision < known.revision) return state;
  const others = state.deployments.filter((each) => each.id !== deployment.id);
  const next = {
    ...state,
    topology: state.topology && withBrief(state.topology, deployment.id, deployment),
    deployments: [...others, deployment].sort((one, other) => other.id - one.id),
  };
  const before = state.deployment;
  if (before !== null && before.id !== deployment.id) return next;
  const sameRun = before !== null && before.run?.report_id === deployment.run?.report_id;
  return { ...next, deployment, runtime: sameRun ? state.runtime : null };
}

function withoutDeployment(state: LiveState, id: number): LiveState {
  const next = {
    ...state,
    topology: state.topology && withBrief(state.topology, id, null),
    deployments: state.deployments.filter((each) => each.id !== id),
  };
  if (state.deployment?.id !== id) return next;
  return { ...next, deployment: next.deployments[0] ?? null, runtime: null };
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
