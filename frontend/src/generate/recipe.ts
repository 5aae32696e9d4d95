/** The shape of generated records, as form values and as the API's recipe. */

import type { DocumentFormat, FieldRule, Recipe } from "../api/types";
import { readType, type SparkType } from "../graph/types";

/** A format of the topology document. */
export type Format = Readonly<DocumentFormat>;

/** The destination of the records: topic, formats, and the field with the record's time. */
export interface Target {
  readonly topic: string;
  readonly key: Format;
  readonly value: Format;
  readonly timeField: string | null;
  /** Spark types, if the formats do not contain them as text. */
  readonly types?: Readonly<Record<"key" | "value", string>>;
}

/** Whether a format requires an Avro or Protobuf schema. */
export const needsSchema = ({ format }: Format) => format === "avro" || format === "protobuf";

/** Whether the schema is typed or named in a registry, if the format requires one. */
export const hasSchema = (format: Format) =>
  !needsSchema(format) || Boolean(format.schema || (format.registry && format.subject));

/** The form's values: shares in percent, durations in milliseconds, rules as text by the path of the field. */
export interface Shape {
  readonly keys: number;
  readonly skew: number;
  readonly late: number;
  readonly lateBy: number;
  readonly nulls: number;
  readonly malformed: number;
  readonly seed: number;
  readonly rules: Readonly<Record<string, string>>;
  /** Rules that text cannot express, as those of templates; a text for the same path replaces one. */
  readonly kept?: Readonly<Record<string, FieldRule>>;
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
 * Parses a rule: `tea, rice` (one of these), `1..5` (a number), `order-#` (with the number of the key),
 * `customer-1..50`. Null for empty text.
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

/** The text of a rule; null if no text gives this rule. */
export function ruleText(rule: FieldRule): string | null {
  const { max, min, prefix = "", values } = rule;
  const numbers = min === undefined || max === undefined ? "#" : `${min}..${max}`;
  const text = values?.map((each) => String(each)).join(", ") ?? `${prefix}${numbers}`;
  const read = ruleOf(text);
  return read !== null && sorted(read) === sorted(rule) ? text : null;
}

const sorted = (rule: FieldRule) => JSON.stringify(Object.entries(rule).sort());

/** A recipe of the API as form values. */
export function formOf(topic: string, recipe: Recipe): { target: Target; shape: Shape } {
  const rules: Record<string, string> = {};
  const kept: Record<string, FieldRule> = {};
  for (const [path, rule] of Object.entries(recipe.fields ?? {})) {
    const text = ruleText(rule);
    if (text === null) kept[path] = rule;
    else rules[path] = text;
  }
  const { key, late, late_by, malformed, nulls, seed, skew, time_field, value } = recipe;
  const shares = { late, malformed, nulls, seed, skew };
  const known = Object.fromEntries(
    Object.entries(shares).filter(([, each]) => each !== undefined),
  ) as Partial<Shape>;
  return {
    target: { topic, key, value, timeField: time_field ?? null },
    shape: {
      ...{ ...USUAL, ...known, keys: recipe.keys ?? USUAL.keys, lateBy: late_by ?? 0 },
      ...{ rules, kept },
    },
  };
}

/** The recipe for the API. */
export function recipeOf(target: Target, shape: Shape): Recipe {
  const known = new Set(pathsOf(target));
  const fields: Record<string, FieldRule> = {};
  for (const [path, rule] of Object.entries(shape.kept ?? {})) {
    if (known.has(path)) fields[path] = rule;
  }
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

/** Whether all numbers in a form are valid. */
export function complete(numbers: Readonly<Record<string, unknown>>): boolean {
  return Object.values(numbers).every((each) => typeof each !== "number" || !Number.isNaN(each));
}
