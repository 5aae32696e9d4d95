/** The comparison of plain Spark with Kafka Streams: counts, and the predicted differences that explain them. */

import { describeDiagnostic } from "../api/prose";
import type { PlainComparison, PlainRow, PlainSimulation, PlainTopic } from "../api/types";

/** How the two records in a row of a topic compare. */
export type Group = keyof PlainTopic["counts"];

/** A difference that the compiler announced, with its number in the list. */
export interface CodeInUse {
  readonly number: number;
  readonly code: string;
  /** One sentence, or several if it is not the same at all nodes. */
  readonly messages: readonly string[];
  readonly hint: string | null;
  readonly nodes: readonly string[];
  /** The number of records that it explains. */
  readonly records: number;
  /** Whether it explains a different number of dropped records. */
  readonly dropped: boolean;
}

export const groupOf = (row: PlainRow): Group => {
  if (row.spark === null) return "kafka_streams";
  if (row.kafka_streams === null) return "spark";
  if (row.differs.length === 0) return "equal";
  return row.differs.every((each) => each === "timestamp") ? "time" : "different";
};

/** The predicted differences of a program in plain Spark, those that explain the most records first. */
export function codesInUse(plain: PlainSimulation): readonly CodeInUse[] {
  const records = new Map<string, number>();
  for (const topic of plain.comparison?.topics ?? [])
    for (const row of topic.rows)
      for (const code of row.codes) records.set(code, (records.get(code) ?? 0) + 1);
  const announced = plain.diagnostics.filter((each) => each.severity === "difference");
  return [...new Set(announced.map((each) => each.code))]
    .map((code) => {
      const mine = announced.filter((each) => each.code === code);
      return {
        code,
        messages: [...new Set(mine.map((each) => describeDiagnostic(each).message))],
        hint: mine[0] === undefined ? null : describeDiagnostic(mine[0]).hint,
        nodes: [...new Set(mine.flatMap((each) => (each.node === null ? [] : [each.node])))],
        records: records.get(code) ?? 0,
        dropped: plain.comparison?.dropped.codes.includes(code) ?? false,
      };
    })
    .toSorted((a, b) => b.records + Number(b.dropped) - a.records - Number(a.dropped))
    .map((each, index) => ({ ...each, number: index + 1 }));
}

/** The number of records in all topics by how they compare. */
export function totals(comparison: PlainComparison): Readonly<Record<Group, number>> {
  const all = { equal: 0, time: 0, different: 0, kafka_streams: 0, spark: 0 };
  for (const topic of comparison.topics)
    for (const group of Object.keys(all) as Group[]) all[group] += topic.counts[group];
  return all;
}
