/** Services that the designer needs; the page that shows it provides them. */

import type {
  CompileResult,
  DocumentFormat,
  ExpressionTrial,
  Fragment,
  Topic,
  TopicRecord,
  TriedValue,
} from "../api/types";
import type { TopologyDocument } from "../graph/document";
import type { PinnedRecord } from "../graph/pins";

type TopicEntry = Readonly<Topic>;

/** A schema and the topology that has it. */
export interface KnownSchema {
  readonly topology: string;
  readonly schema: string;
}

/** What the cluster knows of a topic. */
export interface TopicFacts {
  readonly partitions: number;
  readonly records: number;
  /** Null if the topic is empty. */
  readonly latest: TopicRecord | null;
}

export interface DesignerServices {
  /** Compiles a document, finished or not. Rejects only if the compiler does not respond. */
  compile(
    document: TopologyDocument,
    revision: number,
    signal: AbortSignal,
    dialect?: "exact" | "plain",
  ): Promise<CompileResult>;
  /** The topics of the workspace's cluster; rejects if the cluster does not respond. */
  topics(): Promise<readonly TopicEntry[]>;
  /** Keys or values of the latest records of a topic that are JSON, as texts. */
  samples(topic: string, side: "key" | "value"): Promise<readonly string[]>;
  /** Schemas of the JSON keys or values that other topologies read from a topic, or write to it. */
  schemas(topic: string, side: "key" | "value"): Promise<readonly KnownSchema[]>;
  /** The fragments of the workspace by name, or those whose name or description contains a text. */
  fragments(search?: string): Promise<readonly Fragment[]>;
  /** The document of a version of a fragment. */
  fragment(id: number, version: number): Promise<TopologyDocument>;
  /** Creates a fragment with a first version, and returns its id. */
  createFragment(name: string, document: TopologyDocument): Promise<number>;
  /** Saves a document as the version of a fragment after `base`, and returns its number. */
  saveFragment(id: number, base: number, document: TopologyDocument): Promise<number>;
  /** The address of the page that shows a topology or a fragment. */
  topologyAddress(id: number): string;
  /** A few of the latest records of a topic, if it exists, in the formats of a source; rejects if they cannot be read. */
  latest(
    topic: string,
    formats: { key: DocumentFormat; value: DocumentFormat },
  ): Promise<readonly PinnedRecord[]>;
  /**
   * The value, or the error, of an expression for each record. Rejects for one that does not compile, and while the
   * simulator starts.
   */
  tryExpression(asked: ExpressionTrial, signal: AbortSignal): Promise<readonly TriedValue[]>;
  /** Partitions, number of records and the latest record of a topic; rejects if the cluster does not respond. */
  topicFacts(topic: string): Promise<TopicFacts>;
  /** The address of the page that shows a topic's records. */
  topicAddress(topic: string): string;
}
