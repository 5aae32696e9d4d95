/** The difference between what a test expects and what a run gave: records paired by key and time, field by field. */

import type { SimulationResult, TopologyTest } from "../api/types";

type Expected = TopologyTest["expected"];
export type Actual = Pick<SimulationResult, "outputs" | "stores" | "dropped" | "output_count">;

/** A record or a row of a store, as it is compared. */
export interface Entry {
  readonly key: unknown;
  readonly value?: unknown;
  readonly timestamp?: number | null;
  readonly headers?: unknown;
  readonly after?: number;
}

/** A field that differs, such as `value.total`; undefined if one side does not have it. */
export interface FieldDifference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** `moved`: the same on both sides, but in another order among the others. */
export type Kind = "missing" | "extra" | "different" | "moved";

export interface Pair {
  readonly kind: Kind;
  readonly expected: Entry | null;
  readonly actual: Entry | null;
  readonly fields: readonly FieldDifference[];
}

export interface Part {
  readonly of: "topic" | "store";
  readonly name: string;
  /** Only those that differ, in the order of the expected ones, then of the others. */
  readonly pairs: readonly Pair[];
  /** Number of records that are equal. */
  readonly equal: number;
}

export interface Diff {
  readonly parts: readonly Part[];
  readonly dropped: { readonly expected: number; readonly actual: number } | null;
}

/** The codes of differences that a diff shows; it has no others. */
const RECORDS = new Set(["record_differs", "record_missing", "record_unexpected"]);
const ROWS = new Set([
  "store_missing",
  "row_missing",
  "row_unexpected",
  "row_differs",
  "row_timestamp",
]);

/** Whether a diff with these expectations shows the difference with this code. */
export function isShown(code: string, expected: Expected): boolean {
  if (RECORDS.has(code)) return expected.outputs !== undefined;
  if (ROWS.has(code)) return expected.stores !== undefined;
  return code === "dropped" && expected.dropped !== undefined;
}

/** A value with sorted names and without nulls; numbers have twelve digits, as where tests are judged. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value === "number") return Number(value.toPrecision(12));
  if (typeof value !== "object" || value === null) return value;
  const named = Object.entries(value)
    .filter(([, part]) => part !== null && part !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(named.map(([name, part]) => [name, canonical(part)]));
}

const textOf = (value: unknown) => JSON.stringify(canonical(value ?? null));
const sameValue = (one: unknown, other: unknown) => textOf(one) === textOf(other);

/** The fields that differ; those of objects one by one. */
export function fieldsOf(
  expected: unknown,
  actual: unknown,
  path: string,
): readonly FieldDifference[] {
  if (sameValue(expected, actual)) return [];
  const objects = [expected, actual].every(
    (each) => typeof each === "object" && each !== null && !Array.isArray(each),
  );
  if (!objects) return [{ path, expected, actual }];
  const [one, other] = [expected, actual] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...names].flatMap((name) => fieldsOf(one?.[name], other?.[name], `${path}.${name}`));
}

/** The parts of a record that are compared. */
type Compared = (entry: Entry) => Record<string, unknown>;

function differing(expected: Entry, actual: Entry, compared: Compared) {
  const [one, other] = [compared(expected), compared(actual)];
  return Object.keys(one).flatMap((name) => fieldsOf(one[name], other[name], name));
}

/** Takes the first entry with this text from those that are left. */
class Left {
  private readonly queues = new Map<string, number[]>();
  constructor(texts: readonly string[], indexes: readonly number[]) {
    for (const index of indexes) {
      const text = texts[index] ?? "";
      const queue = this.queues.get(text);
      if (queue === undefined) this.queues.set(text, [index]);
      else queue.push(index);
    }
  }
  take(text: string): number | undefined {
    return this.queues.get(text)?.shift();
  }
}

/**
 * Pairs expected and actual entries: first equal ones, then those of the same key and time, then of the same key. For
 * each expected entry the index of its actual one.
 */
function paired(
  expected: readonly Entry[],
  actual: readonly Entry[],
  compared: Compared,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const taken = new Set<number>();
  const keys = [
    (entry: Entry) => textOf(compared(entry)),
    (entry: Entry) => textOf([entry.key, entry.timestamp]),
    (entry: Entry) => textOf(entry.key),
  ];
  for (const key of keys) {
    const left = actual.flatMap((_, index) => (taken.has(index) ? [] : [index]));
    const queues = new Left(actual.map(key), left);
    expected.forEach((entry, index) => {
      if (found.has(index)) return;
      const match = queues.take(key(entry));
      if (match === undefined) return;
      found.set(index, match);
      taken.add(match);
    });
  }
  return found;
}

/** The members of the longest increasing subsequence: those that are in order, if the others have moved. */
function inOrder(numbers: readonly number[]): ReadonlySet<number> {
  const ends: number[] = [];
  const before: number[] = [];
  numbers.forEach((number, at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] ?? -1);
    ends[low] = at;
  });
  const found = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) found.add(numbers[at] ?? -1);
  return found;
}

function partOf(
  place: Pick<Part, "of" | "name">,
  expected: readonly Entry[],
  actual: readonly Entry[],
  compared: Compared,
): Part {
  const matches = paired(expected, actual, compared);
  const sequence = expected.flatMap((_, index) => matches.get(index) ?? []);
  const still = place.of === "topic" ? inOrder(sequence) : new Set(sequence);
  const pairs: Pair[] = [];
  let equal = 0;
  expected.forEach((entry, index) => {
    const at = matches.get(index);
    const match = at === undefined ? undefined : actual[at];
    if (at === undefined || match === undefined) {
      pairs.push({ kind: "missing", expected: entry, actual: null, fields: [] });
      return;
    }
    const fields = differing(entry, match, compared);
    if (fields.length === 0 && still.has(at)) equal += 1;
    else {
      const kind = fields.length === 0 ? "moved" : "different";
      pairs.push({ kind, expected: entry, actual: match, fields });
    }
  });
  const matched = new Set(matches.values());
  actual.forEach((entry, index) => {
    if (!matched.has(index))
      pairs.push({ kind: "extra", expected: null, actual: entry, fields: [] });
  });
  return { ...place, pairs, equal };
}

/** What differs. Parts of the expectations that are not set are not compared, as when tests are judged. */
export function diffOf(expected: Expected, actual: Actual): Diff {
  const parts: Part[] = [];
  const { dropped, outputs, stores } = expected;
  if (outputs !== undefined) {
    const timed = outputs.every((each) => each.timestamp !== undefined);
    const caused = outputs.every((each) => each.after !== undefined);
    const compared: Compared = ({ after, headers, key, timestamp, value }) => ({
      key,
      value,
      headers: headers ?? {},
      ...(timed ? { timestamp } : {}),
      ...(caused ? { after } : {}),
    });
    const own = new Set(outputs.map((each) => each.topic));
    const judged = new Set((expected.conditions ?? []).map((each) => each.topic));
    const topics = new Set([...own, ...actual.outputs.map((each) => each.topic)]);
    for (const name of [...topics].sort()) {
      if (judged.has(name) && !own.has(name)) continue;
      const of = (all: readonly { readonly topic: string }[]) =>
        all.filter((each) => each.topic === name) as unknown as readonly Entry[];
      parts.push(partOf({ of: "topic", name }, of(outputs), of(actual.outputs), compared));
    }
  }
  for (const [name, rows] of Object.entries(stores ?? {})) {
    const found = actual.stores[name] ?? [];
    const timed = [...rows, ...found].every((each) => typeof each.timestamp === "number");
    const compared: Compared = ({ key, timestamp, value }) => ({
      ...{ key, value },
      ...(timed ? { timestamp } : {}),
    });
    parts.push(partOf({ of: "store", name }, rows, found, compared));
  }
  const drops = dropped !== undefined && dropped !== actual.dropped;
  return {
    parts: parts.filter((part) => part.pairs.length > 0),
    dropped: drops ? { expected: dropped, actual: actual.dropped } : null,
  };
}
