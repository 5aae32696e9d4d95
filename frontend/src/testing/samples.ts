/** Complete, plausible responses of the API for tests, which override the fields they are about. */

import type {
  Deployment,
  DeploymentStep,
  Runtime,
  TaskReport,
  TopologyDocument,
  TopologySummary,
} from "../api/types";

type Run = NonNullable<Deployment["run"]>;

export function aTopology(over: Partial<TopologySummary> = {}): TopologySummary {
  return {
    id: 1,
    workspace: "main",
    name: "Word count",
    is_fragment: false,
    description: "",
    created_at: "2026-01-01T08:00:00Z",
    updated_at: "2026-01-01T09:00:00Z",
    updated_by: "Ada",
    latest_version: 3,
    draft: false,
    deployment: null,
    deployments: [],
    node_count: 5,
    ...over,
  };
}

export function aRun(over: Partial<Run> = {}): Run {
  return {
    id: 1,
    epoch: 1,
    version: 3,
    pid: 4242,
    host: "127.0.0.1",
    report_id: "first",
    jvm: { host: null, alone: null },
    restarts: 0,
    standby: false,
    started_at: "2026-01-01T09:00:05Z",
    ...over,
  };
}

export function aStep(over: Partial<DeploymentStep> = {}): DeploymentStep {
  return {
    name: "compile",
    state: "done",
    started_at: "2026-01-01T09:00:00Z",
    finished_at: "2026-01-01T09:00:01Z",
    detail: null,
    ...over,
  };
}

export function aDeployment(over: Partial<Deployment> = {}): Deployment {
  return {
    id: 1,
    topology: 1,
    topology_name: "Word count",
    version: 3,
    target: "local",
    settings: {},
    desired: "running",
    observed: "running",
    since: "2026-01-01T09:00:06Z",
    restart_requested: false,
    paused: false,
    draining: false,
    has_checkpoint: false,
    fallback: null,
    record_decisions: [],
    schedule: null,
    steps: [aStep()],
    run: null,
    standby: null,
    failure: null,
    outage: null,
    created_by: "Ada",
    created_at: "2026-01-01T09:00:00Z",
    updated_at: "2026-01-01T09:00:06Z",
    revision: 1,
    ...over,
  };
}

export function aTask(over: Partial<TaskReport> = {}): TaskReport {
  return {
    task: "0_0",
    subtopology: 0,
    level: 0,
    partition: 0,
    executor: "driver",
    host: "127.0.0.1",
    thread: "stream-1",
    thread_changes: 0,
    topic_partitions: [{ topic: "lines", partition: 0, offset: 90, end_offset: 100, lag: 10 }],
    records: 90,
    rate: 12.5,
    stream_time: 1_767_258_000_000,
    last_active: 1_767_258_000_500,
    state_rows: null,
    ...over,
  };
}

export function aReport(over: Partial<Runtime> = {}): Runtime {
  return {
    deployment: 1,
    run: "first",
    at: 1_767_258_001_000,
    as_of: "2026-01-01T09:00:01Z",
    stale: false,
    batch: 7,
    duration_ms: 340,
    input_rate: 12.5,
    process_rate: 40,
    phases: { addBatch: 300 },
    nodes: {
      lines: {
        in: 90,
        out: 90,
        dropped: {},
        misses: {},
        dead_letters: 0,
        in_rate: 12.5,
        out_rate: 12.5,
        latency: null,
      },
      count: {
        in: 400,
        out: 400,
        dropped: { null_key: 2 },
        misses: { no_match: 4 },
        dead_letters: 1,
        in_rate: 50,
        out_rate: 50,
        latency: null,
      },
    },
    tasks: [
      aTask(),
      aTask({ task: "1_0", subtopology: 1, level: 1, topic_partitions: [], state_rows: 17 }),
    ],
    stores: [{ name: "counts", node: "counts", rows: 17, bytes: 2048 }],
    lost: [],
    topic_partitions: [],
    ...over,
  };
}

export function aDocument(over: Partial<TopologyDocument> = {}): TopologyDocument {
  return {
    format: "millrace.topology/1",
    name: "Word count",
    nodes: [
      { id: "lines", kind: "source.stream", label: "Lines", params: { topics: ["lines"] } },
      { id: "count", kind: "count", label: "Count", params: {} },
      { id: "counts", kind: "store.key_value", params: { name: "counts" } },
      { id: "out", kind: "sink.topic", params: { topic: "counts" } },
    ],
    edges: [
      { source: "lines", target: "count" },
      { source: "counts", target: "count", target_port: "store" },
      { source: "count", target: "out" },
    ],
    ...over,
  };
}
