/** The query of a topic's records in the page's address, and records as text. */

import type {
  FormatsQuery,
  KeyFormat,
  RecordFormat,
  RecordPart,
  RecordsQuery,
  TopicRecord,
  TopicUse,
} from "../api/types";
import { needsSchema } from "../generate/recipe";
import { headerTexts } from "../simulate/kept";
import { type Phrase, phrase } from "../ui/i18n";

export type Start = "latest" | "earliest" | "offset" | "time";

/** The format of a key or a value; Avro and Protobuf have a schema. */
export interface PartFormat {
  readonly format: KeyFormat;
  readonly schema?: string;
  readonly registry?: string;
  readonly subject?: string;
}

export interface Question {
  readonly start: Start;
  readonly partition: number | null;
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly key: PartFormat;
  readonly value: PartFormat;
  readonly contains: string;
  readonly field: string;
  readonly equals: string;
  readonly compare: Compare;
  /** `topology:node` whose formats are used; empty to use `key` and `value`. */
  readonly reader: string;
  /** A Spark SQL expression that is true for the wanted records; empty for all. */
  readonly where: string;
}

/** The parts of the page's address in React Router's form. */
interface Address {
  readonly search: string;
  readonly hash: string;
}

export type Compare = NonNullable<RecordsQuery["compare"]>;

/** Comparisons whose label is a sign; `contains` has a translated label. */
export const COMPARES: readonly { value: Compare; label: string }[] = [
  { value: "equals", label: "=" },
  { value: "not_equals", label: "≠" },
  { value: "less", label: "<" },
  { value: "at_most", label: "≤" },
  { value: "greater", label: ">" },
  { value: "at_least", label: "≥" },
];

const SCHEMA = ["schema", "registry", "subject"] as const;

export const STARTS: readonly { id: Start; title: Phrase }[] = [
  { id: "latest", title: phrase("Newest first") },
  { id: "earliest", title: phrase("From the beginning") },
  { id: "offset", title: phrase("From an offset") },
  { id: "time", title: phrase("From a time") },
];

export const FORMATS: readonly { value: RecordFormat; label: Phrase }[] = [
  { value: "auto", label: phrase("Automatic") },
  { value: "string", label: phrase("Text") },
  { value: "json", label: phrase("JSON") },
  { value: "integer", label: phrase("Integer") },
  { value: "long", label: phrase("Long") },
  { value: "float", label: phrase("Float") },
  { value: "double", label: phrase("Double") },
  { value: "boolean", label: phrase("Boolean") },
  { value: "bytes", label: phrase("Bytes") },
  { value: "avro", label: phrase("Avro") },
  { value: "protobuf", label: phrase("Protobuf") },
];

/** The formats of keys, with those of Kafka's windowed serdes. */
export const KEY_FORMATS: readonly { value: KeyFormat; label: Phrase }[] = [
  ...FORMATS,
  { value: "time_windowed", label: phrase("Time window") },
  { value: "session_windowed", label: phrase("Session window") },
];

/** The formats in which records can be written. */
export const WRITTEN = FORMATS.filter((each) => each.value !== "auto");

/** The maximum number of records in a list; live records push out the oldest. */
export const MOST_ROWS = 1000;

const whole = (text: string | null): number | null =>
  text !== null && /^\d{1,18}$/.test(text) ? Number(text) : null;

function partFormat(
  part: "key" | "value",
  given: Partial<Record<keyof PartFormat, unknown>>,
): PartFormat {
  const known = part === "key" ? KEY_FORMATS : FORMATS;
  const format = known.find((each) => each.value === given.format)?.value ?? "auto";
  const schema = SCHEMA.map((name) => [name, given[name]]).filter(([, text]) => text);
  return needsSchema({ format }) ? { format, ...Object.fromEntries(schema) } : { format };
}

/**
 * The query in an address, with defaults for missing parts. Schemas are in the hash, because they may exceed the length
 * of an address that a server accepts.
 */
export function questionOf({ hash = "", search }: Partial<Address>): Question {
  const address = new URLSearchParams(search);
  const schemas = new URLSearchParams(hash.replace("#", ""));
  const start = address.get("start");
  const formatOf = (part: "key" | "value") =>
    partFormat(part, {
      format: address.get(part),
      schema: schemas.get(part),
      registry: address.get(`${part}_registry`),
      subject: address.get(`${part}_subject`),
    });
  return {
    start: STARTS.find((each) => each.id === start)?.id ?? "latest",
    partition: whole(address.get("partition")),
    offset: whole(address.get("offset")) ?? 0,
    time: whole(address.get("time")) ?? 0,
    key: formatOf("key"),
    value: formatOf("value"),
    contains: address.get("contains") ?? "",
    field: address.get("field") ?? "",
    equals: address.get("equals") ?? "",
    compare:
      address.get("compare") === "contains"
        ? "contains"
        : (COMPARES.find((each) => each.value === address.get("compare"))?.value ?? "equals"),
    reader: address.get("reader") ?? "",
    where: address.get("where") ?? "",
  };
}

/** The address of a question, omitting defaults. */
export function addressOf(question: Question): Address {
  const found = new URLSearchParams();
  const schemas = new URLSearchParams();
  if (question.start !== "latest") found.set("start", question.start);
  if (question.partition !== null) found.set("partition", String(question.partition));
  if (question.start === "offset") found.set("offset", String(question.offset));
  if (question.start === "time") found.set("time", String(question.time));
  for (const part of ["key", "value"] as const) {
    const { format, registry, schema, subject } = question[part];
    if (format !== "auto") found.set(part, format);
    if (registry !== undefined) found.set(`${part}_registry`, registry);
    if (subject !== undefined) found.set(`${part}_subject`, subject);
    if (schema !== undefined) schemas.set(part, schema);
  }
  if (question.contains !== "") found.set("contains", question.contains);
  if (question.field !== "") {
    found.set("field", question.field);
    found.set("equals", question.equals);
    if (question.compare !== "equals") found.set("compare", question.compare);
  }
  if (question.reader !== "") found.set("reader", question.reader);
  if (question.where !== "") found.set("where", question.where);
  return { search: found.toString(), hash: schemas.toString() };
}

/** The identifier of a node that uses a topic. */
export const readerOf = (use: TopicUse): string => `${use.topology}:${use.node}`;

/** The formats of keys and values: those of the chosen node, or those that were chosen. */
export function readIn(
  { key, reader, value }: Question,
  uses: readonly TopicUse[],
): Pick<Question, "key" | "value"> {
  if (reader === "") return { key, value };
  const use = uses.find((each) => readerOf(each) === reader);
  return { key: partFormat("key", use?.key ?? {}), value: partFormat("value", use?.value ?? {}) };
}

/** The formats for the API: a node's, or those that were chosen. */
export function formatsOf({ key, reader, value }: Question): FormatsQuery {
  if (reader !== "") return { reader };
  const found: Record<string, string> = {};
  for (const [part, format] of Object.entries({ key, value })) {
    for (const [name, text] of Object.entries(format)) found[`${part}_${name}`] = text;
  }
  return found;
}

/** The question for the API. `cursor` continues after an earlier response. */
export function queryOf(question: Question, cursor: string | null): RecordsQuery {
  return {
    start: question.start,
    ...(question.partition === null ? {} : { partition: question.partition }),
    ...(question.start === "offset" ? { offset: question.offset } : {}),
    ...(question.start === "time" ? { time: question.time } : {}),
    ...formatsOf(question),
    ...(question.contains === "" ? {} : { contains: question.contains }),
    ...(question.field === ""
      ? {}
      : { field: question.field, equals: question.equals, compare: question.compare }),
    ...(question.where === "" ? {} : { where: question.where }),
    ...(cursor === null ? {} : { cursor }),
  };
}

/** A search by expression waits for *Continue* after finding or scanning this many records. */
const SEARCH = { found: 50, scanned: 100_000 };

/** Whether a search by expression asks for the next page by itself. */
export function searchesOn(
  question: Question,
  page: { readonly stopped: string },
  found: number,
  scanned: number,
): boolean {
  const enough = found >= SEARCH.found || scanned >= SEARCH.scanned;
  return question.where !== "" && page.stopped !== "end" && !enough;
}

/** The identifier of a record in its topic. */
export const placeOf = (record: { partition: number; offset: number }): string =>
  `${record.partition}:${record.offset}`;

const VALUES: ReadonlySet<string> = new Set([
  ...[
    "json",
    "avro",
    "protobuf",
    "time_windowed",
    "session_windowed",
    "integer",
    "long",
    "float",
    "double",
    "boolean",
  ],
]);

/** A key or value as a JSON value; bytes as hexadecimal digits. */
function jsonValue(part: RecordPart): unknown {
  if (part.text === null || !VALUES.has(part.format) || part.cut) return part.text;
  try {
    const found: unknown = JSON.parse(part.text);
    // An integer that a JavaScript number cannot hold stays text.
    return typeof found === "number" && !Number.isSafeInteger(found) && Number.isInteger(found)
      ? part.text
      : found;
  } catch {
    return part.text;
  }
}

/** A record as a line of JSON in the form of simulation inputs. */
export function jsonLine(topic: string, record: TopicRecord): string {
  return JSON.stringify({
    topic,
    partition: record.partition,
    offset: record.offset,
    timestamp: record.timestamp,
    key: jsonValue(record.key),
    value: jsonValue(record.value),
    ...(record.headers.length === 0 ? {} : { headers: headerTexts(record) }),
  });
}

/** JSON with indentation; any other text as it is. */
export function pretty(part: RecordPart): string {
  if (part.text === null) return "null";
  if (!["json", "avro", "protobuf"].includes(part.format) || part.cut) return part.text;
  try {
    // Text with long numbers is not parsed, because they would change.
    return /\d{16}/.test(part.text)
      ? part.text
      : JSON.stringify(JSON.parse(part.text), undefined, 2);
  } catch {
    return part.text;
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}

/** Decodes UTF-8 text; null if the bytes are not valid UTF-8. */
export function utf8(base64: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytesOf(base64));
  } catch {
    return null;
  }
}

/** Two hexadecimal digits for each byte. */
export function hexDigits(base64: string): string {
  return [...bytesOf(base64)].map((each) => each.toString(16).padStart(2, "0")).join("");
}

/** Bytes in lines of sixteen: position, hexadecimal digits, and printable ASCII characters. */
export function hexDump(base64: string): string {
  const bytes = bytesOf(base64);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const line = [...bytes.slice(at, at + 16)];
    const digits = line.map((each) => each.toString(16).padStart(2, "0")).join(" ");
    const text = line
      .map((each) => (each >= 32 && each < 127 ? String.fromCharCode(each) : "."))
      .join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${digits.padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}
