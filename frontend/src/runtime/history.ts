/** Past assignments of tasks, as rows of bars. */

import type { Placement } from "../api/types";
import { type Phrase, phrase } from "../ui/i18n";
import { byName } from "./assignment";

export const REASONS: Readonly<Record<Placement["reason"], Phrase>> = {
  start: phrase("The deployment started"),
  version: phrase("Another version started"),
  crash: phrase("The previous driver was lost or failed"),
  outage: phrase("The previous driver ended in an outage"),
  scale: phrase("Executors joined or left"),
  moved: phrase("Spark moved it"),
};

interface Lane {
  readonly key: string;
  readonly place: string;
  readonly task: string;
  /** Whether it is the first row of its executor and thread. */
  readonly first: boolean;
  readonly placements: readonly Placement[];
}

export function placeName(executor: string, thread: string): string {
  return thread === "" ? executor : `${executor} · ${thread}`;
}

/** One row per executor, thread and task. */
export function lanesOf(placements: readonly Placement[]): Lane[] {
  const lanes = new Map<string, Placement[]>();
  for (const each of placements) {
    const key = JSON.stringify([each.executor, each.thread, each.task]);
    const lane = lanes.get(key);
    if (lane === undefined) lanes.set(key, [each]);
    else lane.push(each);
  }
  const sorted = [...lanes].map(([key, all]) => ({ key, all, one: all[0] as Placement }));
  sorted.sort(
    ({ one: a }, { one: b }) =>
      a.executor.localeCompare(b.executor, "en", { numeric: true }) ||
      a.thread.localeCompare(b.thread, "en", { numeric: true }) ||
      byName(a.task, b.task),
  );
  let before = "";
  return sorted.map(({ all, key, one }) => {
    const place = placeName(one.executor, one.thread);
    const first = place !== before;
    before = place;
    return { key, place, task: one.task, first, placements: all };
  });
}

/** The left edge and width of a bar in percent. Short bars get a visible minimum width. */
export function barOf(
  each: Pick<Placement, "since" | "until">,
  begin: number,
  end: number,
): { left: number; width: number } {
  const from = Math.max(begin, Date.parse(each.since));
  const to = Math.min(end, each.until === null ? end : Date.parse(each.until));
  const left = Math.min(99.6, ((from - begin) / (end - begin)) * 100);
  return { left, width: Math.max(0.4, ((to - from) / (end - begin)) * 100) };
}
