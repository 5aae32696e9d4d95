/** Spark SQL types as text, parsed far enough to complete field names and to shorten types. */

export interface SparkType {
  /** `STRUCT`, `ARRAY`, `MAP`, or the name of a plain type with its arguments: `DECIMAL(10,2)`. */
  readonly name: string;
  /** Fields of a struct, in order. */
  readonly fields: readonly { readonly name: string; readonly type: SparkType }[];
  /** Element of an array; key and value of a map. */
  readonly parts: readonly SparkType[];
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  private space() {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
  }

  private take(expected: string): boolean {
    this.space();
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  private word(): string {
    this.space();
    if (this.text.charAt(this.at) === "`") {
      const end = this.text.indexOf("`", this.at + 1);
      const name = this.text.slice(this.at + 1, end < 0 ? undefined : end);
      this.at = end < 0 ? this.text.length : end + 1;
      return name;
    }
    const match = /^[\p{L}\p{N}_$]+/u.exec(this.text.slice(this.at));
    if (match === null) return "";
    this.at += match[0].length;
    return match[0];
  }

  /** Skips to the next separator, past `NOT NULL`, `COMMENT '…'` and the like. */
  private rest() {
    this.space();
    while (this.at < this.text.length && !",>)".includes(this.text.charAt(this.at))) this.at += 1;
  }

  fields(): { name: string; type: SparkType }[] {
    const fields: { name: string; type: SparkType }[] = [];
    for (;;) {
      const name = this.word();
      if (name === "") break;
      this.take(":");
      fields.push({ name, type: this.type() });
      this.rest();
      if (!this.take(",")) break;
    }
    return fields;
  }

  type(): SparkType {
    const name = this.word().toUpperCase();
    if (this.take("(")) {
      const end = this.text.indexOf(")", this.at);
      const args = this.text.slice(this.at, end < 0 ? undefined : end).replace(/\s/g, "");
      this.at = end < 0 ? this.text.length : end + 1;
      return { name: `${name}(${args})`, fields: [], parts: [] };
    }
    if (!this.take("<")) return { name, fields: [], parts: [] };
    if (name === "STRUCT") {
      const fields = this.fields();
      this.take(">");
      return { name, fields, parts: [] };
    }
    const parts = [this.type()];
    this.rest();
    while (this.take(",")) {
      parts.push(this.type());
      this.rest();
    }
    this.take(">");
    return { name, fields: [], parts };
  }
}

/** Parses a type, or the columns of a DDL schema as a struct. Never fails: malformed parts are omitted. */
export function readType(text: string): SparkType {
  const trimmed = text.trim();
  const plain = /^[A-Za-z_]+\s*([<(]|$)/.test(trimmed);
  if (plain) return new Reader(trimmed).type();
  return { name: "STRUCT", fields: new Reader(trimmed).fields(), parts: [] };
}

/** Shortens a type: `STRING`, `{item, quantity, +3}`, `[INT]`. */
export function shortType(type: SparkType, room = 2): string {
  if (type.name === "STRUCT") {
    const names = type.fields.map((field) => field.name);
    if (names.join() === "key,window") {
      const key = type.fields[0];
      return key === undefined ? "windowed" : `${shortType(key.type, room)} @ window`;
    }
    if (room === 0) return `{${names.length}}`;
    const more = names.length > room ? [`+${names.length - room}`] : [];
    return `{${[...names.slice(0, room), ...more].join(", ")}}`;
  }
  if (type.name === "ARRAY")
    return `[${type.parts[0] === undefined ? "" : shortType(type.parts[0], room)}]`;
  if (type.name === "MAP") return `{${type.parts.map((part) => shortType(part, 1)).join(" → ")}}`;
  return type.name;
}

/** The type at the end of a path of field names; null if there is no such field. */
export function typeAt(type: SparkType, path: readonly string[]): SparkType | null {
  let now: SparkType | null = type;
  for (const name of path) {
    if (now === null) return null;
    const lower = name.toLowerCase();
    const field: { name: string; type: SparkType } | undefined = now.fields.find(
      (candidate) => candidate.name.toLowerCase() === lower,
    );
    now = field?.type ?? null;
  }
  return now;
}

export function writeType(type: SparkType): string {
  if (type.name === "STRUCT") {
    return `STRUCT<${type.fields.map((field) => `${field.name}: ${writeType(field.type)}`).join(", ")}>`;
  }
  if (type.parts.length > 0) return `${type.name}<${type.parts.map(writeType).join(", ")}>`;
  return type.name;
}
