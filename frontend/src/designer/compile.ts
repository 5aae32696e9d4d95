/** The response of `POST …/compile`. */

export interface Diagnostic {
  readonly code: string;
  readonly severity: "error" | "warning" | "difference";
  readonly node: string | null;
  readonly parameter: string | null;
  /** The place inside a parameter made of parts: `branches[1].predicate`. */
  readonly path?: string | null;
  readonly message: string;
  readonly hint: string | null;
  readonly blocks?: "compile" | "deploy" | null;
  readonly position: { readonly start: number; readonly stop: number } | null;
}

/** Whether something is only not there yet, as in every node that was just added. */
export function isMissing(diagnostic: Diagnostic): boolean {
  return /(_missing|_empty)$|^(one_of|no_nodes)$/.test(diagnostic.code);
}

export interface PortType {
  readonly role: "stream" | "table" | "windowed_table" | "global_table" | (string & {});
  readonly key: string;
  readonly value: string;
  readonly key_changed: boolean;
}

export interface Subtopology {
  readonly id: number;
  readonly nodes: readonly string[];
  readonly sources: readonly string[];
  readonly sinks: readonly string[];
  readonly stores: readonly string[];
  readonly tasks: number;
  readonly level?: number;
}

export interface NodePlan {
  readonly runs_as: "stream_task" | "python" | (string & {});
  readonly guarantee: string | null;
  readonly why: string | null;
  readonly subtopologies: readonly number[];
}

export interface Plan {
  readonly subtopologies: readonly Subtopology[];
  readonly internal_topics: readonly {
    readonly name: string;
    readonly partitions: number;
    readonly kind: "repartition" | "changelog" | (string & {});
  }[];
  /** In the manner of Kafka Streams' `Topology#describe`. */
  readonly text: string;
  readonly nodes: Readonly<Record<string, NodePlan>>;
  readonly edges: readonly { readonly index: number; readonly shuffle: boolean }[];
}

export interface SourceMapEntry {
  readonly node: string;
  readonly path: string;
  /** First and last line, counted from 1. */
  readonly start: number;
  readonly end: number;
}

export interface GeneratedCode {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly source_map: readonly SourceMapEntry[];
}

export interface CompileResult {
  readonly revision: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly ports: Readonly<Record<string, Readonly<Record<string, PortType>>>>;
  readonly plan: Plan | null;
  readonly summary: Readonly<Record<string, string>>;
  readonly code: GeneratedCode | null;
}
