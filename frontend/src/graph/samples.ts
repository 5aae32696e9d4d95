/** The Spark type of JSON records: what fits all of them. */

/** A type as it grows from record to record. `none` is that of null and of an empty list's elements. */
type Shape =
  | { readonly kind: "none" }
  | { readonly kind: "BOOLEAN" | "BIGINT" | "DOUBLE" | "STRING" }
  | { readonly kind: "array"; readonly of: Shape }
  | { readonly kind: "struct"; readonly fields: ReadonlyMap<string, Shape> };

const NONE: Shape = { kind: "none" };

export interface Inferred {
  /** Fields as `name TYPE, name TYPE`, or one type. */
  readonly schema: string;
  /** Paths with values of types that no type covers, such as a number and a text. */
  readonly conflicts: readonly string[];
  readonly samples: number;
}

function shapeOf(value: unknown, path: string, conflicts: Set<string>): Shape {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "boolean") return { kind: "BOOLEAN" };
  if (typeof value === "string") return { kind: "STRING" };
  if (typeof value === "number") {
    return { kind: Number.isSafeInteger(value) ? "BIGINT" : "DOUBLE" };
  }
  if (Array.isArray(value)) {
    const shapes = value.map((each) => shapeOf(each, `${path}[]`, conflicts));
    const of = shapes.reduce((one, other) => joined(one, other, `${path}[]`, conflicts), NONE);
    return { kind: "array", of };
  }
  const fields = new Map<string, Shape>();
  for (const [name, each] of Object.entries(value as object)) {
    fields.set(name, shapeOf(each, path === "" ? name : `${path}.${name}`, conflicts));
  }
  return { kind: "struct", fields };
}

function joined(one: Shape, other: Shape, path: string, conflicts: Set<string>): Shape {
  if (one.kind === "none") return other;
  if (other.kind === "none") return one;
  if (one.kind === "array" && other.kind === "array") {
    return { kind: "array", of: joined(one.of, other.of, `${path}[]`, conflicts) };
  }
  if (one.kind === "struct" && other.kind === "struct") {
    const fields = new Map(one.fields);
    for (const [name, shape] of other.fields) {
      const below = path === "" ? name : `${path}.${name}`;
      fields.set(name, joined(fields.get(name) ?? NONE, shape, below, conflicts));
    }
    return { kind: "struct", fields };
  }
  if (one.kind === other.kind) return one;
  const kinds = [one.kind, other.kind];
  if (kinds.every((kind) => kind === "BIGINT" || kind === "DOUBLE")) return { kind: "DOUBLE" };
  conflicts.add(path === "" ? "value" : path);
  return one;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

function fieldsOf(fields: ReadonlyMap<string, Shape>, between: string): string {
  return [...fields]
    .map(([name, shape]) => {
      const quoted = PLAIN.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
      return `${quoted}${between}${written(shape)}`;
    })
    .join(", ");
}

function written(shape: Shape): string {
  if (shape.kind === "none") return "STRING";
  if (shape.kind === "array") return `ARRAY<${written(shape.of)}>`;
  if (shape.kind !== "struct") return shape.kind;
  // Spark has no structs without fields.
  if (shape.fields.size === 0) return "MAP<STRING, STRING>";
  return `STRUCT<${fieldsOf(shape.fields, ": ")}>`;
}

/** The values in a text: a JSON value, a list of records, or one record per line. */
export function readSamples(text: string): { values: unknown[]; error: string | null } {
  const whole = text.trim();
  if (whole === "") return { values: [], error: null };
  try {
    const value: unknown = JSON.parse(whole);
    const list = Array.isArray(value) && value.every((each) => typeof each === "object");
    return { values: list ? value.filter((each) => each !== null) : [value], error: null };
  } catch (first) {
    const lines = whole.split(/\r?\n/).filter((line) => line.trim() !== "");
    const values: unknown[] = [];
    for (const [index, line] of lines.entries()) {
      try {
        values.push(JSON.parse(line));
      } catch (error) {
        const single = lines.length === 1 || index === 0;
        const why = single ? first : error;
        const reason = why instanceof Error ? why.message : String(why);
        return { values: [], error: single ? reason : `${index + 1}: ${reason}` };
      }
    }
    return { values, error: null };
  }
}

export function schemaOf(values: readonly unknown[]): Inferred {
  const conflicts = new Set<string>();
  const shape = values
    .map((value) => shapeOf(value, "", conflicts))
    .reduce((one, other) => joined(one, other, "", conflicts), NONE);
  const schema =
    shape.kind === "struct" && shape.fields.size > 0
      ? fieldsOf(shape.fields, " ")
      : shape.kind === "none"
        ? ""
        : written(shape);
  return { schema, conflicts: [...conflicts].sort(), samples: values.length };
}
