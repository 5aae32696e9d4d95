/** The order in which the input records of a simulation are processed. */

import type { Line, Source } from "./scenario";

/** `time`: as Kafka Streams would take them from the topics; `listed`: as the rows are listed. */
export type Order = "time" | "listed";

export const ORDERS: readonly Order[] = ["time", "listed"];

/**
 * The indexes of the lines in the order of the run.
 *
 * By time, it is the order in which Kafka Streams takes records that are already in the topics: those of a partition
 * in the order of their offsets, here as they are listed, and of the partitions the one whose next record has the
 * smallest timestamp; of equal ones, the first by topic and number. Records do not pass an advance of the wall clock.
 */
export function inOrder(
  lines: readonly Line[],
  order: Order,
  sources: readonly Source[],
): readonly number[] {
  const indexes = lines.map((_, index) => index);
  if (order === "listed") return indexes;
  const highest = new Map<string, number>();
  let section = 0;
  const places = lines.map((line) => {
    const from = sourceName(line);
    if (from === null) {
      section += 1;
      const place = { section, time: 0, topic: "", partition: 0 };
      section += 1;
      return place;
    }
    const partition = Number(line.partition ?? 0);
    const name = `${section} ${partition} ${from}`;
    // A record behind one with a later time is taken after that one.
    const time = Math.max(highest.get(name) ?? Number.NEGATIVE_INFINITY, timeOf(line, sources));
    highest.set(name, time);
    return { section, time, topic: from, partition };
  });
  return indexes.sort((one, other) => {
    const [a, b] = [places[one], places[other]];
    if (a === undefined || b === undefined) return 0;
    const topics = a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : 0;
    return (
      a.section - b.section || a.time - b.time || topics || a.partition - b.partition || one - other
    );
  });
}

/** Where a record comes from: a topic, or an edge with pinned records; null for an advance of the wall clock. */
function sourceName(line: Line): string | null {
  if (typeof line.topic === "string") return line.topic;
  return line.edge === undefined ? null : JSON.stringify(line.edge);
}

/** The time of a record: the field from which its source reads it, or else the record's own timestamp. */
function timeOf(line: Line, sources: readonly Source[]): number {
  const field = sources.find((each) => each.topic === line.topic)?.timeField ?? null;
  const { value } = line;
  if (field !== null && typeof value === "object" && value !== null) {
    const found = (value as Record<string, unknown>)[field];
    if (typeof found === "number") return found;
  }
  return typeof line.timestamp === "number" ? line.timestamp : 0;
}

/** The list with the element at `from` moved to the place `to`. */
export function moveTo<Each>(list: readonly Each[], from: number, to: number): readonly Each[] {
  const [moved] = list.slice(from, from + 1);
  if (moved === undefined) return list;
  const others = list.filter((_, index) => index !== from);
  return [...others.slice(0, to), moved, ...others.slice(to)];
}
