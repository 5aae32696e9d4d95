/** Requests that the simulator answers, which may have to start first. */

import { ApiError } from "./client";

const AGAIN_MS = 1_000;
const PATIENCE_MS = 180_000;

/** The answer; while the simulator starts, the request is repeated until it is aborted. */
export async function whenStarted<T>(
  ask: () => Promise<T>,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal } = {},
): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const starting = error instanceof ApiError && error.code === "simulator_starting";
      if (!starting || signal?.aborted || Date.now() > until) throw error;
      onWait?.();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      if (signal?.aborted) throw error;
    }
  }
}
