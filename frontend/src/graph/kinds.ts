/**
 * What the page needs of kinds beyond their catalog entries, in one entry for each. `source.` and `store.` are for all
 * kinds of those families.
 */

import type { Parameters } from "./document";

/** Ways in which a record ends at a node that are known before a run. */
export type Way =
  | "filtered"
  | "no_branch"
  | "no_match"
  | "late"
  | "null_key"
  | "skipped_timestamp"
  | "deserialization";

interface KindFacts {
  /** The class of a store as a processor's code sees it. */
  readonly storeClass?: string;
  /** The ways in which records can end at a node, besides those of its window. */
  readonly ways?: (params: Parameters, settings: Parameters) => readonly Way[];
  /** Whether the records are dropped for which the predicate is true. */
  readonly dropsMatches?: boolean;
  /** What tests can check: the outputs of a topic or the rows of a store, whose name is a parameter. */
  readonly checked?: { readonly kind: "topic" | "store"; readonly name: string };
}

const grouping: KindFacts = {
  ways: ({ group_by }) => {
    const key = (group_by as { key?: unknown } | undefined)?.key;
    return key === undefined ? ["null_key"] : [];
  },
};

const lookup: KindFacts = { ways: ({ type }) => (type === "left" ? [] : ["no_match"]) };

/** A filter that is a rule drops no record without a reason. */
const rejecting: NonNullable<KindFacts["ways"]> = ({ rejected = "drop" }) =>
  rejected === "drop" ? ["filtered"] : [];

const store = (storeClass: string): KindFacts => ({
  storeClass,
  checked: { kind: "store", name: "name" },
});

const KINDS: Readonly<Record<string, KindFacts>> = {
  "source.": {
    ways: ({ invalid_timestamp }, { deserialization_handler = "fail" }) => [
      ...(invalid_timestamp === "skip" ? (["skipped_timestamp"] as const) : []),
      ...(deserialization_handler === "fail" ? [] : (["deserialization"] as const)),
    ],
  },
  filter: { ways: rejecting },
  filter_not: { ways: rejecting, dropsMatches: true },
  split: { ways: ({ default_port }) => (default_port ? [] : ["no_branch"]) },
  "join.stream_table": lookup,
  "join.stream_global_table": lookup,
  count: grouping,
  reduce: grouping,
  aggregate: grouping,
  "store.": store("KeyValueStore"),
  "store.window": store("WindowStore"),
  "store.session": store("SessionStore"),
  "store.versioned": store("VersionedStore"),
  "sink.topic": { checked: { kind: "topic", name: "topic" } },
};

const NONE: KindFacts = {};

export function factsOf(kind: string): KindFacts {
  return KINDS[kind] ?? KINDS[`${kind.split(".")[0]}.`] ?? NONE;
}

/** Whether a kind reads topics. */
export function isSourceKind(kind: string): boolean {
  return kind.startsWith("source.");
}

/** The kind of the store that a table has without a store node, by the type of its window. */
export function storeOfWindow(type: unknown): string {
  if (type === undefined) return "store.key_value";
  return type === "session" ? "store.session" : "store.window";
}
