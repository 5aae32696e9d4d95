/** The query of a store, as form values and as API parameters. */

import type { StateStore, StoreQuery } from "../api/types";
import { readTime } from "../ui/readTime";

export type Find = "key" | "prefix" | "from";

export interface StoreQuestion {
  readonly find: Find;
  readonly text: string;
  /** Times as they were typed: the range of window starts, and the time as of which versions are read. */
  readonly fromTime: string;
  readonly toTime: string;
  readonly asOf: string;
  readonly newest: boolean;
}

export const EVERYTHING: StoreQuestion = {
  ...{ find: "key", text: "", fromTime: "", toTime: "", asOf: "", newest: false },
};

/** Rows per page. */
const PAGE = 50;

export const hasWindows = (store: StateStore): boolean =>
  store.windows !== null || store.kind === "window" || store.kind === "session";

const msOf = (text: string): number | null => {
  const found = readTime(text);
  return found === null ? null : Math.max(found, 0);
};

/** The end of the second that was typed, so that "up to" includes its milliseconds. */
const endOf = (text: string): number | null => {
  const found = msOf(text);
  return found === null || found % 1000 !== 0 ? found : found + 999;
};

export function queryOf(
  question: StoreQuestion,
  store: StateStore,
  after: string | null,
): StoreQuery {
  const times = hasWindows(store)
    ? { from_time: msOf(question.fromTime), to_time: endOf(question.toTime) }
    : {};
  const asOf = store.kind === "versioned" ? { as_of: endOf(question.asOf) } : {};
  const given = Object.entries({ ...times, ...asOf }).filter(([, value]) => value !== null);
  return {
    limit: PAGE,
    ...(question.text === "" ? {} : { [question.find]: question.text }),
    ...(question.newest ? { newest: true } : {}),
    ...Object.fromEntries(given),
    ...(after === null ? {} : { after }),
  };
}
