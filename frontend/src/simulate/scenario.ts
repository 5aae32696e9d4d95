/** The input records of a simulation, as typed and in the form for the simulator. */

import type { Format } from "../generate/recipe";
import { type DocumentNode, paramsOf, type TopologyDocument } from "../graph/document";
import { isSourceKind } from "../graph/kinds";
import { withDefaults } from "../graph/parameters";
import { readDate } from "../ui/readTime";
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

/** The pattern of a source that reads all topics with a matching name; null for other nodes. */
function patternOf(node: DocumentNode): RegExp | null {
  const { topic_pattern } = paramsOf(node) as { topic_pattern?: unknown };
  if (!isSourceKind(node.kind) || typeof topic_pattern !== "string") return null;
  try {
    return new RegExp(`^(?:${topic_pattern})$`);
  } catch {
    return null; // Java has expressions that this browser cannot read.
  }
}

/** Whether a source reads topics by a pattern, so that records can be of any matching topic. */
export function readsPatterns(document: TopologyDocument): boolean {
  return document.nodes.some((node) => patternOf(node) !== null);
}

/** The topics that the sources read by name, and those of the rows that they read by a pattern. */
export function sourcesFor(
  document: TopologyDocument,
  rows: readonly Pick<InputRow, "topic">[],
): readonly Source[] {
  const named = sourcesOf(document);
  if (!readsPatterns(document)) return named;
  const { nodes } = withDefaults(document);
  const others = new Set(rows.map((row) => row.topic));
  for (const { topic } of named) others.delete(topic);
  return [
    ...named,
    ...[...others].flatMap((topic) => {
      const node = nodes.find((each) => patternOf(each)?.test(topic));
      return node === undefined ? [] : [sourceOf(node, topic)];
    }),
  ];
}

function formatOf(value: unknown): Format {
  const parts = Object.entries(value ?? {}).filter(([, part]) => typeof part === "string");
  return { format: "string", ...Object.fromEntries(parts) };
}

/** The topics that the document's sources read by name. */
export function sourcesOf(document: TopologyDocument): readonly Source[] {
  return withDefaults(document).nodes.flatMap((node) => {
    if (!isSourceKind(node.kind)) return [];
    const params = paramsOf(node) as Record<string, unknown>;
    const topics = Array.isArray(params.topics) ? params.topics : [params.topic];
    return topics
      .filter((topic): topic is string => typeof topic === "string" && topic !== "")
      .map((topic) => sourceOf(node, topic));
  });
}

/**
 * Input lines of one document as those of another with the same sources, in which parameters have other values: topics
 * are renamed.
 */
export function linesFor<Line>(
  lines: readonly Line[],
  from: TopologyDocument,
  to: TopologyDocument,
): readonly Line[] {
  if (from === to) return lines;
  const others = sourcesOf(to);
  const names = new Map(
    sourcesOf(from).map(({ topic }, index) => [topic, others[index]?.topic ?? topic]),
  );
  return lines.map((line) => {
    const topic = names.get(String((line as { topic?: unknown }).topic));
    return topic === undefined ? line : { ...line, topic };
  });
}

function sourceOf(node: DocumentNode, topic: string): Source {
  const params = paramsOf(node) as Record<string, unknown>;
  const time = /^value\.(\w+)$/.exec(String(params.timestamp ?? "").trim());
  return {
    topic,
    node,
    key: formatOf(params.key),
    value: formatOf(params.value),
    keyFormat: formatOf(params.key).format,
    valueFormat: formatOf(params.value).format,
    timeField: time?.[1] ?? null,
  };
}

/** The text of a cell for a value; values of text formats are shown without quotes. */
export function cellOf(value: unknown, name: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" && (name === "string" || name === "bytes")) return value;
  return JSON.stringify(value);
}

/** Prefixes in a cell of bytes, for records that the format cannot deserialize. */
const BYTES = "base64:";
const HEX = "hex:";

/** The field of an input line for a cell: its value, or unchanged bytes. */
function part(name: "key" | "value", text: string, formatName: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (trimmed.startsWith(HEX)) {
    return { [`${name}_bytes`]: base64(fromHex(trimmed.slice(HEX.length))) };
  }
  if (!trimmed.startsWith(BYTES)) return { [name]: readValue(text, formatName) };
  const bytes = trimmed.slice(BYTES.length);
  atob(bytes);
  return { [`${name}_bytes`]: bytes };
}

function fromHex(text: string): Uint8Array {
  const digits = text.replaceAll(/\s/g, "");
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw new Error(text);
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function base64(bytes: Uint8Array): string {
  return btoa([...bytes].map((byte) => String.fromCharCode(byte)).join(""));
}

/** A cell with the bytes of a text. */
export function bytesCell(text: string): string {
  return `${BYTES}${base64(new TextEncoder().encode(text))}`;
}

/** Whether a cell stands for exactly these bytes (base64, or null), if it is written in the format. */
function standsFor(cell: string, raw: string | null, formatName: string): boolean {
  if (raw === null) return cell === "";
  if (formatName !== "string" && formatName !== "json") return false;
  const text = new TextDecoder().decode(Uint8Array.from(atob(raw), (each) => each.charCodeAt(0)));
  if (text !== cell || text.trim() === "" || text.trim().startsWith(BYTES)) return false;
  if (formatName === "string") return base64(new TextEncoder().encode(text)) === raw;
  try {
    // Numbers of more digits than JavaScript's would change, and null would become a missing value.
    return JSON.parse(text) !== null && !/\d{16}/.test(text);
  } catch {
    return false;
  }
}

/**
 * The cells of a record, as bytes where its source could not read the text, or would read something else: the record of
 * a failure fails in the same way.
 */
export function exactly<Cells extends Pick<InputRow, "topic" | "key" | "value">>(
  cells: Cells,
  raw: { readonly raw_key: string | null; readonly raw_value: string | null },
  sources: readonly Source[],
): Cells {
  const source = sources.find((each) => each.topic === cells.topic);
  const cell = (text: string, bytes: string | null, formatName: string) =>
    standsFor(text, bytes, formatName) ? text : bytes === null ? "" : `${BYTES}${bytes}`;
  return {
    ...cells,
    key: cell(cells.key, raw.raw_key, source?.keyFormat ?? "string"),
    value: cell(cells.value, raw.raw_value, source?.valueFormat ?? "json"),
  };
}

function readValue(text: string, name: string): unknown {
  if (text.trim() === "") return null;
  if (name === "string" || name === "bytes") return text;
  return JSON.parse(text);
}

/** The epoch milliseconds of a cell: a whole number, or a date and time. Throws an Error for other text. */
export function timeOf(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  const at = /^-?\d+$/.test(trimmed) ? Number(trimmed) : readDate(trimmed);
  if (at === null) throw new Error(text);
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

/**
 * Parses pasted text into rows: JSON lines, a JSON array of lines, or CSV with a header (topic, key, value, timestamp,
 * partition, headers) and commas, tabs or semicolons. Throws an Error whose message is the number of the invalid line.
 */
export async function rowsOfText(
  text: string,
  sources: readonly Source[],
): Promise<readonly InputRow[]> {
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
  return rowsOfTable(trimmed, sources);
}

async function rowsOfTable(text: string, sources: readonly Source[]): Promise<InputRow[]> {
  const { parse } = (await import("papaparse")).default;
  const [heading = ""] = text.split(/\r?\n/, 1);
  const { data, errors, meta } = parse<Partial<Record<Column, string>>>(text, {
    header: true,
    skipEmptyLines: "greedy",
    delimiter: [",", "\t", ";"].find((each) => heading.includes(each)) ?? ",",
    transformHeader: (name) => name.trim().toLowerCase(),
  });
  if (!meta.fields?.includes("value") && !meta.fields?.includes("key")) throw new Error("1");
  const bad = errors.find((each) => each.code !== "TooFewFields");
  if (bad !== undefined) {
    const before =
      bad.index === undefined ? (bad.row ?? 0) + 2 : text.slice(0, bad.index).split("\n").length;
    throw new Error(String(before));
  }
  return data.map((cells) =>
    newRow({
      topic: cells.topic || (sources[0]?.topic ?? ""),
      key: cells.key ?? "",
      value: cells.value ?? "",
      timestamp: cells.timestamp ?? "",
      partition: cells.partition ?? "",
      headers: cells.headers ?? "",
    }),
  );
}
