/** Records on edges: as text, from results, and as inputs of a simulation. */

import type { EdgeRecord, SimulationResult } from "../api/types";
import { edgeId, sourcePort, type TopologyDocument } from "../graph/document";
import { edgesThatRun } from "../graph/opening";
import {
  type Double,
  type DoubleRow,
  doublesOf,
  mutedOf,
  type Pin,
  type PinnedRecord,
  pinsOf,
} from "../graph/pins";
import { type Line, sourcesOf } from "./scenario";

/** As many records on an edge as the server accepts. */
export const MOST_RECORDS = 200;

const FIELDS = ["key", "value", "timestamp", "partition", "headers"];

/** One record per line, as JSON. */
export function textOf(records: readonly PinnedRecord[]): string {
  return records.map((record) => JSON.stringify(record)).join("\n");
}

/** The first line of a text that is no record, and why. */
export interface BadLine {
  readonly n: number;
  /** The wrong field; null if the line is no JSON object. */
  readonly field: string | null;
  /** Whether records have such a field, so that its value is wrong. */
  readonly known: boolean;
}

/** The records of a text, and the first line that is not one; null if there is none. */
export function recordsOf(text: string): {
  records: readonly PinnedRecord[];
  bad: BadLine | null;
} {
  const records: PinnedRecord[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const record = read(line);
    if (typeof record === "string" || record === null) {
      const known = record !== null && FIELDS.includes(record);
      return { records, bad: { n: index + 1, field: record, known } };
    }
    records.push(record);
  }
  return { records, bad: null };
}

/** The record of a line, or the name of its first wrong field; null if it is no JSON object. */
function read(line: string): PinnedRecord | string | null {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) return null;
  const unknown = Object.keys(found).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return unknown;
  const { headers, key = null, partition, timestamp = 0, value = null } = found as PinnedRecord;
  const whole = (number: unknown) => number === undefined || Number.isSafeInteger(number);
  if (!whole(timestamp)) return "timestamp";
  if (!whole(partition) || (partition ?? 0) < 0) return "partition";
  const texts = typeof headers === "object" ? Object.values(headers ?? {}) : [0];
  if (headers !== undefined && !texts.every((each) => each === null || typeof each === "string"))
    return "headers";
  return {
    key,
    value,
    timestamp,
    ...(partition === undefined ? {} : { partition }),
    ...(headers === undefined ? {} : { headers }),
  };
}

const headed = (headers: PinnedRecord["headers"]) =>
  Object.keys(headers ?? {}).length === 0 ? {} : { headers };

/** The first records that passed over an edge in a simulation. */
export function simulatedOn(
  shown: { readonly document: TopologyDocument; readonly result: SimulationResult } | null,
  edge: string,
): readonly PinnedRecord[] {
  if (shown === null) return [];
  const index = shown.document.edges.findIndex((each) => edgeId(each) === edge);
  const within = (shown.result.inner_edges ?? []).findIndex((each) => edgeId(each) === edge);
  if (index < 0 && within < 0) return [];
  return shown.result.steps
    .flatMap(({ edge: over, inner_edge: inner, record, task }): PinnedRecord[] => {
      const mine = index >= 0 ? over === index : inner === within;
      if (!mine || record === undefined) return [];
      const { headers, key, timestamp, value } = record as PinnedRecord;
      // A task has the number of its partition.
      const partition = Number(task?.split("_")[1] ?? 0);
      return [
        { key, value, timestamp, ...(partition > 0 ? { partition } : {}), ...headed(headers) },
      ];
    })
    .slice(0, MOST_RECORDS);
}

/** The first records that left a port of a node in a simulation, which are those of any edge from it. */
export function simulatedAt(
  shown: { readonly document: TopologyDocument; readonly result: SimulationResult },
  node: string,
  port: string,
): readonly PinnedRecord[] {
  const edge = shown.document.edges.find(
    (each) => each.source === node && sourcePort(each) === port,
  );
  return edge === undefined ? [] : simulatedOn(shown, edgeId(edge));
}

/** Records that passed over an edge of a deployment, oldest first; those that were cut off are omitted. */
export function deployedOn(records: readonly EdgeRecord[]): readonly PinnedRecord[] {
  return [...records]
    .reverse()
    .filter((record) => record.key_cut !== true && record.value_cut !== true)
    .map((record) => {
      const { headers, key, timestamp, value } = record as PinnedRecord & EdgeRecord;
      return { key, value, timestamp, ...headed(headers) };
    });
}

/** The pins on edges of the document, and on edges between the nodes that run. */
function runningPins(document: TopologyDocument): readonly Pin[] {
  const pins = pinsOf(document);
  const own = new Set(document.edges.map(edgeId));
  if (pins.every((pin) => own.has(edgeId(pin)))) return pins;
  const running = edgesThatRun(document);
  return pins.filter((pin) => own.has(edgeId(pin)) || running.has(edgeId(pin)));
}

/** A part of a topology for the simulator. */
export interface Part {
  pins: { source: string; target: string; source_port?: string; target_port?: string }[];
  to?: string;
  muted: string[];
  doubles?: (Pick<Double, "node" | "passes"> & { rows: DoubleRow[] })[];
}

/** Whether a document has pinned records, muted nodes or doubles. */
export function hasPart(document: TopologyDocument): boolean {
  return pinsOf(document).length + mutedOf(document).length + doublesOf(document).length > 0;
}

const doubled = (document: TopologyDocument): Pick<Part, "doubles"> => {
  const doubles = doublesOf(document);
  return doubles.length === 0
    ? {}
    : { doubles: doubles.map((each) => ({ ...each, rows: [...(each.rows ?? [])] })) };
};

/** What tests run: all of the topology, with the doubles that it has; null without any. */
export function partOfTests(document: TopologyDocument): Part | null {
  const found = doubled(document);
  return found.doubles === undefined ? null : { pins: [], muted: [], ...found };
}

/** The part that the document describes, up to a node; null if all of it runs. `used`: with pins, muted nodes and doubles. */
export function partOf(document: TopologyDocument, used: boolean, to?: string): Part | null {
  if (to === undefined && !(used && hasPart(document))) return null;
  return {
    pins: used ? runningPins(document).map(({ records: _records, ...ends }) => ends) : [],
    muted: used ? [...mutedOf(document)] : [],
    ...(used ? doubled(document) : {}),
    ...(to === undefined ? {} : { to }),
  };
}

/** The number of lines that a run read: records of sources outside the part that ran are passed over. */
export function linesRead(
  document: TopologyDocument,
  lines: readonly Line[],
  part: { readonly nodes: readonly string[] } | undefined,
): number {
  if (part === undefined) return lines.length;
  const outside = sourcesOf(document).filter(({ node }) => !part.nodes.includes(node.id));
  return lines.filter((line) => !outside.some(({ topic }) => topic === line.topic)).length;
}

/** The pinned records as input lines. */
export function pinnedLines(document: TopologyDocument): readonly Line[] {
  return runningPins(document).flatMap(({ records, ...edge }) =>
    records.map((record) => ({ ...record, edge })),
  );
}
