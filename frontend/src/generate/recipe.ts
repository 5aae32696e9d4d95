/** What generated records look like, as a form has it and as the API takes it. */

import type { DocumentFormat, FieldRule, Recipe } from "../api/types";
import { readType, type SparkType } from "../graph/types";

/** A format of the topology document. */
export type Format = Readonly<DocumentFormat>;

/** Where the records go: topic, formats, and the field that holds their time. */
export interface Target {
  readonly topic: string;
  readonly key: Format;
  readonly value: Format;
  readonly timeField: string | null;
  /** Spark's types, where the formats do not have them as text. */
  readonly types?: Readonly<Record<"key" | "value", string>>;
}

/** Whether the bytes of a format depend on a schema of Avro or Protobuf. */
export const needsSchema = ({ format }: Format) => format === "avro" || format === "protobuf";

/** Whether a schema is typed, or named in a registry, where a format needs one. */
export const hasSchema = (format: Format) =>
  !needsSchema(format) || Boolean(format.schema || (format.registry && format.subject));

/** The form. Shares are percentages, durations milliseconds, rules texts by the field's path. */
export interface Shape {
  readonly keys: number;
  readonly skew: number;
  readonly late: number;
  readonly lateBy: number;
  readonly nulls: number;
  readonly malformed: number;
  readonly seed: number;
  readonly rules: Readonly<Record<string, string>>;
}

export const USUAL: Shape = {
  keys: 4,
  skew: 0,
  late: 10,
  lateBy: 7_200_000,
  nulls: 0,
  malformed: 0,
  seed: 1,
  rules: {},
};

function leaves(type: SparkType, path: string): string[] {
  if (type.name !== "STRUCT") return [path];
  return type.fields.flatMap((each) => leaves(each.type, `${path}.${each.name}`));
}

/** The paths of all fields that can have a rule. */
export function pathsOf(target: Target): readonly string[] {
  const of = (part: "key" | "value") => {
    const { format, schema } = target[part];
    const text = format === "json" ? schema : target.types?.[part];
    const type = text ? readType(text) : null;
    return type === null ? [part] : leaves(type, part);
  };
  return [...of("key"), ...of("value")].filter((path) => path !== `value.${target.timeField}`);
}

function scalar(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text === "null" ? null : text;
}

/**
 * The rule of a text: `tea, rice` (one of them), `1..5` (a number), `order-#` (with the key's
 * number), `customer-1..50`. Null for no text.
 */
export function ruleOf(text: string): FieldRule | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const range = /^(.*?)(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/.exec(trimmed);
  if (range !== null && !trimmed.includes(",")) {
    // In `customer-1..50` the dash belongs to the text before the numbers.
    const dashed = range[1] !== "" && range[2]?.startsWith("-");
    const prefix = dashed ? `${range[1]}-` : (range[1] ?? "");
    const min = dashed ? Number(range[2]?.slice(1)) : Number(range[2]);
    return { min, max: Number(range[3]), ...(prefix === "" ? {} : { prefix }) };
  }
  if (trimmed.endsWith("#")) return { prefix: trimmed.slice(0, -1) };
  const values = trimmed
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  return { values: values.map(scalar) } as FieldRule;
}

/** The recipe as the API takes it. */
export function recipeOf(target: Target, shape: Shape): Recipe {
  const known = new Set(pathsOf(target));
  const fields: Record<string, FieldRule> = {};
  for (const [path, text] of Object.entries(shape.rules)) {
    const rule = known.has(path) ? ruleOf(text) : null;
    if (rule !== null) fields[path] = rule;
  }
  const { keys, late, malformed, nulls, seed, skew } = shape;
  return {
    key: { ...target.key },
    value: { ...target.value },
    time_field: target.timeField,
    ...{ keys, skew, late, late_by: shape.lateBy, nulls, malformed, seed, fields },
  } as Recipe;
}

/** Whether all numbers of a form can be sent. */
export function complete(numbers: Readonly<Record<string, unknown>>): boolean {
  return Object.values(numbers).every((each) => typeof each !== "number" || !Number.isNaN(each));
}
