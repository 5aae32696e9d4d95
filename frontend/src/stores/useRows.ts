/** The rows of a store, loaded page by page. */

import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, asApiError } from "../api/client";
import { readStore } from "../api/deploymentCalls";
import type { StateStore, StoreAnswer, StorePage } from "../api/types";
import { queryOf, type StoreQuestion } from "./query";

/** Interval and limit of repeated requests while the process that reads stores is starting, in milliseconds. */
const AGAIN_MS = 1_000;
const PATIENCE_MS = 180_000;

interface Found {
  readonly page: StorePage | null;
  readonly phase: "reading" | "starting" | "idle";
  readonly error: ApiError | null;
}

const NOTHING: Found = { page: null, phase: "reading", error: null };

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Repeats the request until it returns a page. Calls `onStarting` while the process that reads stores starts. */
async function pageOf(
  read: () => Promise<StoreAnswer>,
  signal: AbortSignal,
  onStarting: () => void,
): Promise<StorePage> {
  const began = performance.now();
  for (;;) {
    const answer = await read();
    if (answer.page !== null) return answer.page;
    if (signal.aborted || performance.now() - began > PATIENCE_MS) throw new ApiError(0, null);
    onStarting();
    await pause(AGAIN_MS);
  }
}

export function useRows(deployment: number, store: StateStore, question: StoreQuestion) {
  const [found, setFound] = useState<Found>(NOTHING);
  const running = useRef<AbortController | null>(null);
  const read = useCallback(
    (after: string | null, before: StorePage | null) => {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      const set = (change: Found) => {
        if (!own.signal.aborted) setFound(change);
      };
      setFound((now) => ({ page: before ?? now.page, phase: "reading", error: null }));
      const starting = () => set({ page: before, phase: "starting", error: null });
      const query = queryOf(question, store, after);
      const ask = () => readStore(deployment, store.id, query, own.signal);
      pageOf(ask, own.signal, starting).then(
        (page) =>
          set({
            // If a batch was committed between two pages, the newer page's batch is shown.
            page: before === null ? page : { ...page, rows: [...before.rows, ...page.rows] },
            ...{ phase: "idle", error: null },
          }),
        (error: unknown) =>
          set({
            ...{ page: before, phase: "idle" },
            error: asApiError(error),
          }),
      );
    },
    [deployment, store, question],
  );
  useEffect(() => {
    setFound(NOTHING);
    read(null, null);
    return () => running.current?.abort();
  }, [read]);
  const { page } = found;
  return {
    ...found,
    refresh: () => read(null, null),
    more: () => {
      if (page?.next != null) read(page.next, page);
    },
  };
}
