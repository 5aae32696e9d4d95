/** The expectations of a test in the form: parts that are compared exactly, and conditions. */

import { useEffect, useState } from "react";
import { compileDocument } from "../api/compileCalls";
import type { CheckedCondition, Condition, TopologyTest } from "../api/types";
import { useDesigner } from "../designer/store";
import { paramsOf, type TopologyDocument } from "../graph/document";
import { factsOf } from "../graph/kinds";

export type Expected = TopologyTest["expected"];

/** A part of a result: records of a topic, rows of a store, the number of drops, or `nothing` (no outputs). */
export interface Part {
  readonly kind: "topic" | "store" | "dropped" | "nothing";
  readonly name: string;
  readonly count: number;
}

/** The topic or store to which a condition applies. */
export interface Place {
  readonly kind: "topic" | "store";
  readonly name: string;
}

/** A condition in the form. `count` applies only if `records` is "count". */
export interface Typed {
  readonly id: number;
  readonly place: string;
  readonly predicate: string;
  readonly records: "every" | "any" | "count";
  readonly count: number;
}

export const keyOf = ({ kind, name }: Pick<Part, "kind" | "name">) => `${kind}:${name}`;

/** The parts of results that can be compared exactly. */
export function partsOf(expected: Expected): readonly Part[] {
  const { dropped, outputs, stores } = expected;
  const topics = [...new Set(outputs?.map((each) => each.topic))];
  return [
    ...topics.map((name) => ({
      ...{ kind: "topic" as const, name },
      count: outputs?.filter((each) => each.topic === name).length ?? 0,
    })),
    ...(outputs?.length === 0 ? [{ kind: "nothing" as const, name: "", count: 0 }] : []),
    ...Object.entries(stores ?? {}).map(([name, rows]) => ({
      ...{ kind: "store" as const, name },
      count: rows.length,
    })),
    ...(dropped === undefined ? [] : [{ kind: "dropped" as const, name: "", count: dropped }]),
  ];
}

/** The places to which conditions can apply: output topics and stores with a name. */
export function placesOf(document: TopologyDocument, parts: readonly Part[]): readonly Place[] {
  const found = new Map<string, Place>();
  const add = (kind: Place["kind"], name: unknown) => {
    if (typeof name === "string" && name !== "") found.set(keyOf({ kind, name }), { kind, name });
  };
  for (const node of document.nodes) {
    const { checked } = factsOf(node.kind);
    if (checked !== undefined) add(checked.kind, paramsOf(node)[checked.name]);
  }
  for (const { kind, name } of parts) if (kind === "topic" || kind === "store") add(kind, name);
  return [...found.values()].sort((a, b) => b.kind.localeCompare(a.kind));
}

let lastId = 0;

/** A new condition on a place. While its predicate is empty, it is true for every record. */
export function newCondition(place: string): Typed {
  lastId += 1;
  return { id: lastId, place, predicate: "", records: "every", count: 1 };
}

export function typedOf(expected: Expected): readonly Typed[] {
  return (expected.conditions ?? []).map((each) => {
    const { predicate, records = "every", store, topic } = each;
    const kind = store === undefined ? ("topic" as const) : ("store" as const);
    const made = { ...newCondition(keyOf({ kind, name: store ?? topic ?? "" })), predicate };
    return typeof records === "number"
      ? { ...made, records: "count", count: records }
      : { ...made, records };
  });
}

export function conditionOf({ count, place, predicate, records }: Typed): Condition {
  const kind = place.startsWith("store:") ? "store" : "topic";
  const name = place.slice(kind.length + 1);
  return { [kind]: name, predicate, records: records === "count" ? count : records } as Condition;
}

/** The expectations to save: the chosen parts of `expected`, and the conditions. */
export function expectedOf(
  expected: Expected,
  exact: ReadonlySet<string>,
  typed: readonly Typed[],
): Expected {
  const has = (kind: Part["kind"], name = "") => exact.has(keyOf({ kind, name }));
  const { dropped, outputs = [], stores = {} } = expected;
  const kept = outputs.filter((each) => has("topic", each.topic));
  const rows = Object.entries(stores).filter(([name]) => has("store", name));
  return {
    ...(kept.length > 0 || has("nothing") ? { outputs: kept } : {}),
    ...(rows.length > 0 ? { stores: Object.fromEntries(rows) } : {}),
    ...(dropped !== undefined && has("dropped") ? { dropped } : {}),
    ...(typed.length > 0 ? { conditions: typed.map(conditionOf) as never } : {}),
  };
}

/** Topics without an expectation. If other topics are compared exactly, the test fails for any record in these. */
export function withoutCondition(
  parts: readonly Part[],
  exact: ReadonlySet<string>,
  typed: readonly Typed[],
): readonly string[] {
  const topics = parts.filter(({ kind }) => kind === "topic");
  if (!topics.some((each) => exact.has(keyOf(each)))) return [];
  const judged = new Set(typed.map(({ place }) => place));
  const missing = topics.filter((each) => !exact.has(keyOf(each)) && !judged.has(keyOf(each)));
  return missing.map(({ name }) => name);
}

/** Milliseconds without typing after which conditions are checked. */
const QUIET_MS = 150;

/** Types and errors of the conditions for the current document, by condition id. */
export function useChecked(
  workspace: string,
  typed: readonly Typed[],
): ReadonlyMap<number, CheckedCondition> {
  const document = useDesigner((state) => state.document);
  const [checked, setChecked] = useState<ReadonlyMap<number, CheckedCondition>>(new Map());
  const asked = JSON.stringify(typed);
  useEffect(() => {
    const found: readonly Typed[] = JSON.parse(asked);
    if (found.length === 0) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const conditions = found.map(conditionOf);
      compileDocument(workspace, document, 0, controller.signal, "exact", conditions)
        .then((result) => {
          const each = result.conditions?.map((one, at) => [found[at]?.id ?? 0, one] as const);
          setChecked(new Map(each));
        })
        // An error is not shown here: saving or running the test reports it as well.
        .catch(() => undefined);
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [workspace, document, asked]);
  return checked;
}
