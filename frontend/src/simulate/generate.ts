/** Random records by the schema of a source; the same settings give the same records. */

import type { SparkType } from "../graph/types";
import { cellOf, type InputRow, newRow, type Source } from "./scenario";

export interface Generator {
  readonly count: number;
  readonly keys: number;
  /** Milliseconds between two records, on average. */
  readonly every: number;
  /** Records out of a hundred that come late, and by how many milliseconds at most. */
  readonly late: number;
  readonly lateBy: number;
  /** Values out of a hundred that are null. */
  readonly nulls: number;
  readonly seed: number;
}

export const USUAL: Generator = {
  count: 20,
  keys: 4,
  every: 60_000,
  late: 10,
  lateBy: 7_200_000,
  nulls: 0,
  seed: 1,
};

const WORDS = [
  "apple",
  "bread",
  "coffee",
  "dates",
  "eggs",
  "flour",
  "grapes",
  "honey",
  "ice",
  "juice",
] as const;

/** A small generator of random numbers in [0, 1) from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function word(index: number): string {
  const name = WORDS[index % WORDS.length] ?? "item";
  return index < WORDS.length ? name : `${name}-${Math.floor(index / WORDS.length)}`;
}

function plain(name: string, key: number, next: () => number): unknown {
  const number = 1 + Math.floor(next() * 10);
  if (name === "STRING" || name.startsWith("VARCHAR") || name === "") return word(key);
  if (name === "BOOLEAN") return next() < 0.5;
  if (/^(DOUBLE|FLOAT|REAL|DECIMAL|NUMERIC)/.test(name)) return Math.round(number * 125) / 100;
  if (name === "DATE") return "2026-01-01";
  if (name === "BINARY") return btoa(word(key));
  return number;
}

function sampleOf(
  type: SparkType,
  at: number,
  key: number,
  next: () => number,
  field = "",
): unknown {
  if (type.name === "STRUCT") {
    return Object.fromEntries(
      type.fields.map((each) => [each.name, sampleOf(each.type, at, key, next, each.name)]),
    );
  }
  const [first, second] = type.parts;
  if (type.name === "ARRAY" && first !== undefined) {
    return [sampleOf(first, at, key, next), sampleOf(first, at, (key + 1) % 10, next)];
  }
  if (type.name === "MAP" && second !== undefined) return { a: sampleOf(second, at, key, next) };
  const timely = /(^|_)(at|ts|time|timestamp|date)$/i.test(field);
  if (type.name === "TIMESTAMP" || (type.name === "BIGINT" && timely)) return at;
  return plain(type.name, key, next);
}

function keyOf(format: string, key: number): unknown {
  if (["integer", "long", "float", "double"].includes(format)) return key + 1;
  if (format === "boolean") return key % 2 === 0;
  return word(key);
}

/** Records of a source in the order in which they arrive. */
export function generate(source: Source, settings: Generator): readonly InputRow[] {
  const next = random(settings.seed);
  const rows: InputRow[] = [];
  let now = 0;
  for (let index = 0; index < settings.count; index += 1) {
    now += Math.round(settings.every * (0.5 + next()));
    const key = Math.floor(next() * Math.max(1, settings.keys));
    const late = next() * 100 < settings.late;
    const at = late ? Math.max(0, now - Math.round(next() * settings.lateBy)) : now;
    const missing = next() * 100 < settings.nulls;
    const type = source.valueType;
    let value: unknown =
      type === null
        ? plain(typeName(source.valueFormat), key, next)
        : sampleOf(type, at, key, next);
    if (type !== null && source.timeField !== null && typeof value === "object") {
      value = { ...value, [source.timeField]: at };
    }
    rows.push(
      newRow({
        topic: source.topic,
        key: cellOf(keyOf(source.keyFormat, key), source.keyFormat),
        value: missing ? "" : cellOf(value, source.valueFormat),
        timestamp: String(at),
      }),
    );
  }
  return rows;
}

function typeName(format: string): string {
  return (
    { integer: "INT", long: "BIGINT", float: "FLOAT", double: "DOUBLE", boolean: "BOOLEAN" }[
      format
    ] ?? "STRING"
  );
}
