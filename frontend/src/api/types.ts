/** Shapes of the API as the page uses them. Field names are the server's own. */

import type { TopologyDocument } from "../graph/document";

export type {
  CompileResult,
  Diagnostic,
  GeneratedCode,
  SourceMapEntry,
} from "../designer/compile";
export type { TopologyDocument };

export type Role = "viewer" | "editor" | "operator" | "admin";

export interface User {
  id: number;
  username: string;
  display_name: string;
}

export interface Workspace {
  id: number;
  slug: string;
  name: string;
  role: Role;
}

export interface Session {
  user: User | null;
  workspaces: Workspace[];
}

export interface Page<T> {
  count: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

export type Desired = "running" | "stopped";
export type Observed =
  | "new"
  | "compiling"
  | "checking"
  | "staging"
  | "starting"
  | "running"
  | "degraded"
  | "restarting"
  | "stopping"
  | "stopped"
  | "failed"
  | "unknown";

export interface DeploymentBrief {
  id: number;
  observed: Observed;
  desired: Desired;
  version: number;
}

export interface TopologySummary {
  id: number;
  name: string;
  description: string;
  updated_at: string;
  updated_by: string | null;
  latest_version: number | null;
  draft: boolean;
  deployment: DeploymentBrief | null;
  node_count: number;
}

export interface Draft {
  document: TopologyDocument;
  base_version: number | null;
  updated_at: string | null;
}

export interface VersionSummary {
  number: number;
  message: string;
  name: string | null;
  author: string | null;
  created_at: string;
  hash: string;
}

export interface Version extends VersionSummary {
  document: TopologyDocument;
}

export type StepState = "waiting" | "running" | "done" | "failed" | "skipped";

export interface DeploymentStep {
  name: string;
  state: StepState;
  started_at: string | null;
  finished_at: string | null;
  detail: string | null;
}

export interface RunSummary {
  id: string | number;
  pid: number | null;
  host: string | null;
  started_at: string | null;
  restarts: number;
}

export interface FailingRecord {
  topic?: string | null;
  partition?: number | null;
  offset?: number | null;
  key?: unknown;
  timestamp?: number | null;
}

export interface Failure {
  code: string;
  node: string | null;
  parameter: string | null;
  message: string;
  record: FailingRecord | null;
}

export interface DeploymentSettings {
  trigger_ms?: number;
  cores?: number;
  memory_mb?: number;
  start?: "earliest" | "latest";
}

export interface Deployment {
  id: number;
  topology: number;
  version: number;
  target: string;
  settings: DeploymentSettings;
  desired: Desired;
  observed: Observed;
  steps: DeploymentStep[];
  run: RunSummary | null;
  failure: Failure | null;
  created_by: string | null;
  created_at?: string;
  updated_at?: string;
}

export interface RunRecord {
  id: string | number;
  pid: number | null;
  host: string | null;
  started_at: string | null;
  ended_at: string | null;
  version: number | null;
  restarts: number | null;
  outcome: string | null;
}

export interface TopicPartitionProgress {
  topic: string;
  partition: number;
  offset: number | null;
  end_offset: number | null;
  lag: number | null;
}

export interface TaskProgress {
  task: string;
  subtopology: number;
  level: number;
  partition: number;
  executor: string;
  host: string | null;
  thread: string;
  topic_partitions: TopicPartitionProgress[];
  records: number;
  stream_time: number | null;
  last_active: number | null;
  state_rows: number | null;
}

export interface StoreProgress {
  name: string;
  node: string;
  rows: number;
  bytes: number;
}

/** The driver's report, totals counted since its run started. */
export interface Progress {
  at: number;
  run?: string | number | null;
  batch: number;
  duration_ms: number;
  input_rate: number;
  process_rate: number;
  phases: Record<string, number>;
  nodes: Record<string, { in: number; out: number; dropped: Record<string, number> }>;
  tasks: TaskProgress[];
  stores: StoreProgress[];
}

export interface RuntimeSnapshot extends Progress {
  as_of: string | null;
  stale: boolean;
}

export interface LogLine {
  at: number | string;
  level: string;
  node: string | null;
  message: string;
}

export interface LogPage {
  lines: LogLine[];
  next: string | null;
}

export interface Member {
  id: number;
  user: User;
  role: Role;
}

export interface Token {
  id: number | string;
  name: string;
  created_at: string;
  expires_at: string | null;
  last_used_at?: string | null;
}

export interface Presence {
  users: { id: number; display_name: string; node?: string | null }[];
}
