/** The records of a topic, loaded page by page, and live records while the page is visible. */

import { useCallback, useEffect, useReducer, useRef } from "react";
import { type ApiError, asApiError } from "../api/client";
import { whenStarted } from "../api/starting";
import { listRecords } from "../api/topicCalls";
import type { RecordPage, TopicRecord } from "../api/types";
import { MOST_ROWS, type Question, queryOf, searchesOn } from "./records";

const LIVE_MS = 1000;

interface State {
  readonly rows: readonly TopicRecord[];
  readonly scanned: number;
  readonly stopped: RecordPage["stopped"] | null;
  readonly next: string | null;
  readonly ends: string | null;
  readonly busy: boolean;
  readonly error: ApiError | null;
}

const NOTHING: State = {
  ...{ rows: [], scanned: 0, stopped: null, next: null, ends: null },
  ...{ busy: true, error: null },
};

type Change =
  | { type: "asked"; fresh: boolean }
  | { type: "came"; page: RecordPage; fresh: boolean; busy: boolean }
  | { type: "cancelled" }
  | { type: "arrived"; page: RecordPage }
  | { type: "failed"; error: ApiError };

function reduce(state: State, change: Change): State {
  switch (change.type) {
    case "asked":
      return change.fresh ? NOTHING : { ...state, busy: true, error: null };
    case "cancelled":
      return { ...state, busy: false };
    case "failed":
      return { ...state, busy: false, error: change.error };
    case "arrived": {
      const { page } = change;
      const rows = [...[...page.records].reverse(), ...state.rows].slice(0, MOST_ROWS);
      return { ...state, rows, ends: page.next, error: null };
    }
    case "came": {
      const { page } = change;
      const before = change.fresh ? NOTHING : state;
      return {
        rows: [...before.rows, ...page.records],
        scanned: before.scanned + page.scanned,
        stopped: page.stopped,
        next: page.next,
        ends: before.ends ?? page.ends,
        busy: change.busy,
        error: null,
      };
    }
  }
}

/** `live` fetches new records every second, except while the page is hidden. */
export function useRecords(ws: string, topic: string, question: Question, live: boolean) {
  const [state, change] = useReducer(reduce, NOTHING);
  const running = useRef<AbortController | null>(null);
  const ask = useCallback(
    (cursor: string | null) => {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      const fresh = cursor === null;
      change({ type: "asked", fresh });
      const read = async () => {
        let [next, found, scanned, busy] = [cursor, 0, 0, true];
        while (busy && !own.signal.aborted) {
          const page = await whenStarted(
            () => listRecords(ws, topic, queryOf(question, next), own.signal),
            { signal: own.signal },
          );
          found += page.records.length;
          scanned += page.scanned;
          busy = searchesOn(question, page, found, scanned);
          if (!own.signal.aborted) change({ type: "came", page, fresh: next === null, busy });
          next = page.next;
        }
      };
      read().catch((error: unknown) => {
        if (!own.signal.aborted) change({ type: "failed", error: asApiError(error) });
      });
    },
    [ws, topic, question],
  );
  useEffect(() => {
    ask(null);
    return () => running.current?.abort();
  }, [ask]);

  const ends = useRef(state.ends);
  ends.current = state.ends;
  const ready = state.ends !== null;
  useEffect(() => {
    if (!live || !ready) return;
    const own = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      if (!own.signal.aborted) timer = setTimeout(() => void look(), LIVE_MS);
    };
    const look = async () => {
      if (document.hidden) return again();
      try {
        const query = { ...queryOf(question, ends.current), start: "earliest" as const };
        const page = await listRecords(ws, topic, query, own.signal);
        if (!own.signal.aborted) change({ type: "arrived", page });
      } catch (error) {
        if (!own.signal.aborted) change({ type: "failed", error: asApiError(error) });
      }
      again();
    };
    void look();
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [live, ready, ws, topic, question]);

  const cancel = () => {
    running.current?.abort();
    change({ type: "cancelled" });
  };
  return { ...state, cancel, more: () => ask(state.next), reload: () => ask(null) };
}
