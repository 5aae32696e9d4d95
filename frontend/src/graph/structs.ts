/**
 * Structs as rows: the fields of a `named_struct(…)` or `struct(…)` expression, and those of a schema.
 *
 * A text is cut into slots, whose blanks stay where they are: rows that are not changed keep every character.
 */

/** A part between two separators, with the blanks around it. */
interface Slot {
  readonly lead: string;
  readonly core: string;
  readonly trail: string;
}

/** A list in a text: what is before it, its parts, and what is after it. */
interface Cut {
  readonly prefix: string;
  readonly slots: readonly Slot[];
  readonly suffix: string;
}

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "<": ">" };

/** The index after a quoted text that begins at `from`; -1 if it does not end. */
function afterQuote(text: string, from: number): number {
  const quote = text.charAt(from);
  for (let at = from + 1; at < text.length; at += 1) {
    if (text.charAt(at) === "\\" && quote !== "`") at += 1;
    else if (text.charAt(at) === quote) {
      if (text.charAt(at + 1) !== quote) return at + 1;
      at += 1;
    }
  }
  return -1;
}

/**
 * The places of the commas at the top of a list that begins at `from`, and of what closes it: `close`, or the end of the
 * text. Null if brackets or quotes do not match, or if there is a comment, which could hide what follows it.
 */
function commas(
  text: string,
  from: number,
  close: string,
  brackets: string,
): { readonly at: readonly number[]; readonly end: number } | null {
  const open: string[] = [];
  const found: number[] = [];
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === "'" || sign === '"' || sign === "`") {
      at = afterQuote(text, at) - 1;
      if (at < 0) return null;
    } else if (text.startsWith("--", at) || text.startsWith("/*", at)) return null;
    else if (open.length === 0 && sign === close) return { at: found, end: at };
    else if (open.length === 0 && sign === ",") found.push(at);
    else if (brackets.includes(sign)) open.push(CLOSING[sign] ?? "");
    else if (sign === open.at(-1)) open.pop();
    else if (Object.values(CLOSING).includes(sign) && (sign !== ">" || brackets.includes("<")))
      return null;
  }
  return close === "" && open.length === 0 ? { at: found, end: text.length } : null;
}

function slotOf(text: string): Slot {
  const core = text.trim();
  const lead = core === "" ? "" : text.slice(0, text.indexOf(core));
  return { lead, core, trail: text.slice(lead.length + core.length) };
}

function cut(text: string, from: number, close: string, brackets: string): Cut | null {
  const found = commas(text, from, close, brackets);
  if (found === null) return null;
  const edges = [from - 1, ...found.at, found.end];
  const slots = edges
    .slice(1)
    .map((edge, index) => slotOf(text.slice((edges[index] ?? 0) + 1, edge)));
  const empty = slots.length === 1 && slots[0]?.core === "";
  if (!empty && slots.some(({ core }) => core === "")) return null;
  return { prefix: text.slice(0, from), slots: empty ? [] : slots, suffix: text.slice(found.end) };
}

const written = ({ prefix, slots, suffix }: Cut) =>
  prefix + slots.map(({ core, lead, trail }) => lead + core + trail).join(",") + suffix;

/** A field of a struct: its name, and its expression or type. */
export interface Row {
  /** Null if the name is not written as a plain text. */
  readonly name: string | null;
  readonly text: string;
}

/** The rows of a text, and those after a change. A row may hold what is not finished: nothing is read again. */
export interface Rows {
  readonly text: string;
  readonly rows: readonly Row[];
  /** Where the text of each row begins in the whole. */
  readonly starts: readonly number[];
  rename(index: number, name: string): Rows;
  rewrite(index: number, text: string): Rows;
  move(index: number, by: number): Rows;
  remove(index: number): Rows;
  add(name: string, text: string): Rows;
}

/** How a row is written in `size` slots. */
interface Grammar {
  readonly size: number;
  read(cores: readonly string[]): Row & { readonly start: number };
  write(cores: readonly string[], row: Row): readonly string[];
}

function rowsOf(list: Cut, grammar: Grammar): Rows {
  const { read, size, write } = grammar;
  const { prefix, slots, suffix } = list;
  const groups: Slot[][] = [];
  for (let at = 0; at < slots.length; at += size) groups.push(slots.slice(at, at + size));
  const cores = groups.map((group) => group.map(({ core }) => core));
  const found = cores.map(read);
  let at = prefix.length;
  const starts = groups.map((group, index) => {
    const own = group.slice(0, -1).reduce((sum, { core, lead, trail }) => {
      return sum + lead.length + core.length + trail.length + 1;
    }, at);
    const last = group.at(-1);
    const start = own + (last?.lead.length ?? 0) + (found[index]?.start ?? 0);
    at = own + (last ? last.lead.length + last.core.length + last.trail.length + 1 : 0);
    return start;
  });
  const put = (next: readonly Slot[][]) => rowsOf({ prefix, slots: next.flat(), suffix }, grammar);
  const change = (index: number, row: Row) =>
    put(
      groups.map((group, place) => {
        if (place !== index) return group;
        const now = write(cores[index] ?? [], row);
        return group.map((slot, part) => ({ ...slot, core: now[part] ?? slot.core }));
      }),
    );
  /** The blanks stay, and what is between them moves. */
  const filled = (order: readonly (readonly string[])[]) =>
    put(
      groups
        .slice(0, order.length)
        .map((group, place) =>
          group.map((slot, part) => ({ ...slot, core: order[place]?.[part] ?? slot.core })),
        ),
    );
  return {
    text: written(list),
    rows: found.map(({ name, text }) => ({ name, text })),
    starts,
    rename: (index, name) => change(index, { name, text: found[index]?.text ?? "" }),
    rewrite: (index, text) => change(index, { name: found[index]?.name ?? null, text }),
    move: (index, by) => {
      const order = [...cores];
      const [moved] = order.splice(index, 1);
      if (moved !== undefined) order.splice(index + by, 0, moved);
      return filled(order);
    },
    remove: (index) => {
      const left = cores.filter((_cores, place) => place !== index);
      const trail = groups.at(-1)?.at(-1)?.trail ?? "";
      const kept = groups.slice(0, left.length).map((group, place) =>
        group.map((slot, part) => ({
          ...slot,
          core: left[place]?.[part] ?? slot.core,
          ...(place === left.length - 1 && part === group.length - 1 ? { trail } : {}),
        })),
      );
      return put(kept);
    },
    add: (name, text) => {
      const before = groups.at(-1);
      const trail = before?.at(-1)?.trail ?? "";
      // Rows that stand on lines of their own stay so.
      const lead = groups.length > 1 ? (before?.[0]?.lead ?? "") : groups.length > 0 ? " " : "";
      const blank = Array.from({ length: size }, () => "");
      const fresh = write(blank, { name, text }).map(
        (core, part): Slot => ({
          lead: part === 0 ? lead : " ",
          core,
          trail: part === size - 1 ? trail : "",
        }),
      );
      const others = groups.map((group, place) =>
        place < groups.length - 1
          ? group
          : group.map((slot, part) => (part === size - 1 ? { ...slot, trail: "" } : slot)),
      );
      return put([...others, fresh]);
    },
  };
}

// -- expressions -----------------------------------------------------------------------------------

const PLAIN = /^[A-Za-z_]\w*$/;
const quoted = (name: string) => `'${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
const named = (name: string) => (PLAIN.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
const unnamed = (name: string) =>
  name.startsWith("`") ? name.slice(1, -1).replaceAll("``", "`") : name;

/** The text of a literal that is one quoted text; null for anything else. */
function literal(text: string): string | null {
  if (!/^['"]/.test(text) || afterQuote(text, 0) !== text.length) return null;
  const quote = text.charAt(0);
  return text
    .slice(1, -1)
    .replaceAll(quote + quote, quote)
    .replace(/\\(.)/gs, "$1");
}

/** Pairs of a name and an expression: `'total', sum`. */
const PAIRS: Grammar = {
  size: 2,
  read: ([name = "", text = ""]) => ({ name: literal(name), text, start: 0 }),
  write: ([name = "", text = ""], row) => [
    row.name === null || row.name === literal(name) ? name : quoted(row.name),
    row.text === text ? text : row.text,
  ],
};

const ALIAS = /^(.*\S)(\s+AS\s+)(`(?:[^`]|``)+`|[A-Za-z_]\w*)$/is;

/** Expressions with their name, if they have one: `sum AS total`. Spark names `value.id` by its last part. */
const ALIASES: Grammar = {
  size: 1,
  read: ([core = ""]) => {
    const [, text = core, , name] = ALIAS.exec(core) ?? [];
    if (name !== undefined) return { name: unnamed(name), text, start: 0 };
    const last = /^(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)$/.exec(core)?.[1];
    return { name: last ?? null, text, start: 0 };
  },
  write: ([core = ""], row) => {
    const before = ALIASES.read([core]);
    const [, , as = " AS ", name] = ALIAS.exec(core) ?? [];
    if (row.name === null) return [row.text];
    const same = name !== undefined && row.name === before.name;
    const needed = name !== undefined || ALIASES.read([row.text]).name !== row.name;
    return [needed ? `${row.text}${as}${same ? name : named(row.name)}` : row.text];
  },
};

/** The fields of an expression that is one call of `named_struct` or `struct`; null for any other. */
export function readStruct(text: string): Rows | null {
  const call = /^\s*(named_struct|struct)\s*\(/i.exec(text);
  if (call === null) return null;
  const list = cut(text, call[0].length, ")", "([");
  if (list === null || list.suffix.slice(1).trim() !== "") return null;
  if (call[1]?.toLowerCase() === "struct") return rowsOf(list, ALIASES);
  return list.slots.length % 2 === 0 ? rowsOf(list, PAIRS) : null;
}

// -- schemas ---------------------------------------------------------------------------------------

const FIELD = /^(`(?:[^`]|``)+`|[\p{L}_][\p{L}\p{N}_$]*)(?:(\s*:\s*|\s+)([\s\S]*))?$/u;

/** Names with their types: `item STRING`, or `item: STRING` in a struct. */
const fields = (between: string): Grammar => ({
  size: 1,
  read: ([core = ""]) => {
    const [, name, gap, text = ""] = FIELD.exec(core) ?? [];
    if (name === undefined) return { name: null, text: core, start: 0 };
    return { name: unnamed(name), text, start: name.length + (gap?.length ?? 0) };
  },
  write: ([core = ""], row) => {
    const [, name, gap = between] = FIELD.exec(core) ?? [];
    if (row.name === null) return [row.text];
    const same = name !== undefined && unnamed(name) === row.name;
    return [`${same ? name : named(row.name)}${gap}${row.text}`];
  },
});

/** The fields of a schema: of columns, or of a type that is a struct. Null for any other type, and for what is neither. */
export function readSchema(text: string): Rows | null {
  const struct = /^\s*STRUCT\s*</i.exec(text);
  const list =
    struct === null
      ? /^\s*(?:[A-Za-z_]+\s*(?:[<(].*)?|[[{].*)?$/s.test(text)
        ? null
        : cut(text, 0, "", "([<")
      : cut(text, struct[0].length, ">", "([<");
  if (list === null) return null;
  const found = rowsOf(list, fields(struct === null ? " " : ": "));
  return found.rows.every(({ name }) => name !== null) ? found : null;
}
