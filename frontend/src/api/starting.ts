/** Requests to the simulator, which may have to be started first. */

import { ApiError } from "./client";
import { prepareSimulator } from "./compileCalls";

const AGAIN_MS = 300;
const PATIENCE_MS = 180_000;

/** Returns the response, repeating the request while the simulator starts, for up to three minutes or until aborted. */
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

/**
 * Throws `simulator_starting` unless the simulator is ready, and starts it. Asked before a request that needs the
 * simulator, since browsers report each response 503 in their console.
 */
export async function requireSimulator(ws: string): Promise<void> {
  const { state } = await prepareSimulator(ws);
  const error = { code: "simulator_starting", message: "The simulator is starting." };
  if (state === "starting") throw new ApiError(503, { error });
}
