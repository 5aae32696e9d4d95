/** The input records of a simulation, as typed and in the form for the simulator. */

import type { Format } from "../generate/recipe";
import { type DocumentNode, paramsOf, type TopologyDocument } from "../graph/document";
import { headersCell } from "./kept";

/** A row in the table of inputs. Every cell is text, so that invalid input is kept. */
export interface InputRow {
  /** The row's identity while it is edited and moved. */
  readonly id: number;
  /** A topic, or `CLOCK` for an advance of the wall clock. */
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly timestamp: string;
  readonly partition: string;
  readonly headers: string;
}

/** Stands in place of a topic: the wall clock advances by the row's timestamp, in milliseconds. */
export const CLOCK = "⏱";

export type Column = "topic" | "key" | "value" | "timestamp" | "partition" | "headers";
export const COLUMNS: readonly Column[] = [
  "topic",
  "key",
  "value",
  "timestamp",
  "partition",
  "headers",
];

export type Line = Readonly<Record<string, unknown>>;

/** A cell with invalid content. */
export interface BadCell {
  readonly row: number;
  readonly column: Column;
}

/** A topic of a source of the document, and the formats of its records. */
export interface Source {
  readonly topic: string;
  readonly node: DocumentNode;
  readonly key: Format;
  readonly value: Format;
  readonly keyFormat: string;
  readonly valueFormat: string;
  /** The field of the value from which the source reads the timestamp, if any. */
  readonly timeField: string | null;
}

let lastId = 0;
export function newRow(cells: Partial<Omit<InputRow, "id">> = {}): InputRow {
  lastId += 1;
  const empty = { topic: "", key: "", value: "", timestamp: "", partition: "", headers: "" };
  return { ...empty, ...cells, id: lastId };
}

function formatOf(value: unknown): Format {
  const parts = Object.entries(value ?? {}).filter(([, part]) => typeof part === "string");
  return { format: "string", ...Object.fromEntries(parts) };
}

/** The topics that the document's sources read by name. */
export function sourcesOf(document: TopologyDocument): readonly Source[] {
  return document.nodes.flatMap((node) => {
    if (!node.kind.startsWith("source.")) return [];
    const params = paramsOf(node) as Record<string, unknown>;
    const topics = Array.isArray(params.topics) ? params.topics : [params.topic];
    const time = /^value\.(\w+)$/.exec(String(params.timestamp ?? "").trim());
    return topics
      .filter((topic): topic is string => typeof topic === "string" && topic !== "")
      .map((topic) => ({
        topic,
        node,
        key: formatOf(params.key),
        value: formatOf(params.value),
        keyFormat: formatOf(params.key).format,
        valueFormat: formatOf(params.value).format,
        timeField: time?.[1] ?? null,
      }));
  });
}

/** The text of a cell for a value; values of text formats are shown without quotes. */
export function cellOf(value: unknown, name: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" && (name === "string" || name === "bytes")) return value;
  return JSON.stringify(value);
}

/** Prefix in a cell of base64 bytes, for records that the format cannot deserialize. */
const BYTES = "base64:";

/** The field of an input line for a cell: its value, or unchanged bytes. */
function part(name: "key" | "value", text: string, formatName: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (!trimmed.startsWith(BYTES)) return { [name]: readValue(text, formatName) };
  const bytes = trimmed.slice(BYTES.length);
  atob(bytes);
  return { [`${name}_bytes`]: bytes };
}

function readValue(text: string, name: string): unknown {
  if (text.trim() === "") return null;
  if (name === "string" || name === "bytes") return text;
  return JSON.parse(text);
}

/** Parses a time in milliseconds: a whole number, or ISO 8601 (UTC unless it names a zone). */
function timeOf(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (/^-?\d+$/.test(trimmed)) return Number(trimmed);
  const zoned = /([zZ]|[+-]\d\d:?\d\d)$/.test(trimmed) ? trimmed : `${trimmed}Z`;
  const at = Date.parse(zoned.replace(" ", "T"));
  if (Number.isNaN(at)) throw new Error(text);
  return at;
}

function whole(text: string): number {
  if (!/^\d+$/.test(text.trim())) throw new Error(text);
  return Number(text);
}

function headersOf(text: string): Readonly<Record<string, string>> {
  const found: unknown = JSON.parse(text);
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error(text);
  return found as Readonly<Record<string, string>>;
}

/** Converts rows to input lines, and lists invalid cells. */
export function linesOf(
  rows: readonly InputRow[],
  sources: readonly Source[],
): { lines: readonly Line[]; bad: readonly BadCell[] } {
  const bad: BadCell[] = [];
  const lines = rows.map((row, index): Line => {
    const cell = <T>(column: Column, read: (text: string) => T): T | null => {
      try {
        return read(row[column]);
      } catch {
        bad.push({ row: index, column });
        return null;
      }
    };
    if (row.topic === CLOCK) return { advance_wall_clock: cell("timestamp", whole) ?? 0 };
    const source = sources.find((each) => each.topic === row.topic);
    if (row.topic === "") bad.push({ row: index, column: "topic" });
    const line: Record<string, unknown> = {
      topic: row.topic,
      ...cell("key", (text) => part("key", text, source?.keyFormat ?? "string")),
      ...cell("value", (text) => part("value", text, source?.valueFormat ?? "json")),
      timestamp: cell("timestamp", timeOf) ?? 0,
    };
    if (row.partition.trim() !== "") line.partition = cell("partition", whole) ?? 0;
    if (row.headers.trim() !== "") line.headers = cell("headers", headersOf) ?? {};
    return line;
  });
  return { lines, bad };
}

/** The row of an input line. */
export function rowOf(line: Record<string, unknown>, sources: readonly Source[]): InputRow {
  if ("advance_wall_clock" in line) {
    return newRow({ topic: CLOCK, timestamp: String(line.advance_wall_clock) });
  }
  const topic = typeof line.topic === "string" ? line.topic : (sources[0]?.topic ?? "");
  const source = sources.find((each) => each.topic === topic);
  const text = (value: unknown) => (value === null || value === undefined ? "" : String(value));
  return newRow({
    topic,
    key: line.key_bytes
      ? `${BYTES}${line.key_bytes}`
      : cellOf(line.key, source?.keyFormat ?? "string"),
    value: line.value_bytes
      ? `${BYTES}${line.value_bytes}`
      : cellOf(line.value, source?.valueFormat ?? "json"),
    timestamp: text(line.timestamp),
    partition: text(line.partition),
    headers: headersCell(line.headers),
  });
}

/** Splits a line of CSV into cells. Quotes inside quotes are doubled. */
function cells(line: string): string[] {
  const found: string[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/g;
  for (const match of line.matchAll(pattern)) {
    found.push(match[1] === undefined ? (match[2] ?? "") : match[1].replaceAll('""', '"'));
    if (match[3] === "") break;
  }
  return found;
}

/**
 * Parses pasted text into rows: JSON lines, a JSON array of lines, or CSV with a header (topic, key, value, timestamp,
 * partition, headers). Throws an Error whose message is the number of the invalid line.
 */
export function rowsOfText(text: string, sources: readonly Source[]): readonly InputRow[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) {
    return (JSON.parse(trimmed) as Record<string, unknown>[]).map((line) => rowOf(line, sources));
  }
  const lines = trimmed.split(/\r?\n/);
  if (trimmed.startsWith("{")) {
    return lines.flatMap((line, index) => {
      if (line.trim() === "") return [];
      try {
        return [rowOf(JSON.parse(line) as Record<string, unknown>, sources)];
      } catch {
        throw new Error(String(index + 1));
      }
    });
  }
  const heading = cells(lines[0] ?? "").map((name) => name.trim().toLowerCase());
  if (!heading.includes("value") && !heading.includes("key")) throw new Error("1");
  return lines.slice(1).flatMap((line) => {
    if (line.trim() === "") return [];
    const found = cells(line);
    const at = (column: Column) => found[heading.indexOf(column)] ?? "";
    return [
      newRow({
        topic: at("topic") || (sources[0]?.topic ?? ""),
        key: at("key"),
        value: at("value"),
        timestamp: at("timestamp"),
        partition: at("partition"),
        headers: at("headers"),
      }),
    ];
  });
}
