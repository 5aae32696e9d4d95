/** Comparisons of a document's results with those of Kafka Streams. */

import { useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { cancelVerification, getVerification, startVerification } from "../api/compileCalls";
import { describeCause } from "../api/prose";
import { requireSimulator } from "../api/starting";
import type { Difference, Verification } from "../api/types";
import { useDesigner } from "../designer/store";
import { type Phrase, phrase } from "../ui/i18n";

const PAUSE_MS = 1_000;

/** The steps of a running comparison. */
export const STEPS: Readonly<Record<NonNullable<Verification["doing"]>, Phrase>> = {
  jars: phrase("Fetching Kafka Streams…"),
  start: phrase("Starting Kafka Streams…"),
  run: phrase("Running on Kafka Streams…"),
};

export type Comparison =
  | { readonly state: "none" }
  | { readonly state: "running"; readonly doing: Verification["doing"] }
  | { readonly state: "done"; readonly differences: readonly Difference[] }
  | { readonly state: "failed"; readonly message: string };

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Starts a comparison, waiting for a simulator that is starting. Null if it was canceled. */
async function started(
  ws: string,
  inputs: readonly unknown[],
  signal: AbortSignal,
): Promise<Verification | null> {
  const { document } = useDesigner.getState();
  while (!signal.aborted) {
    try {
      await requireSimulator(ws);
      return await startVerification(ws, document, inputs);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "simulator_starting") throw error;
      await pause(signal);
    }
  }
  return null;
}

/** Compares the results of the current document on these inputs. Canceled when the component is unmounted. */
export function useVerification(ws: string, inputs: readonly unknown[]) {
  const [comparison, setComparison] = useState<Comparison>({ state: "none" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (signal: AbortSignal) => {
    setComparison({ state: "running", doing: null });
    const begun = await started(ws, inputs, signal);
    if (begun === null) return;
    let now = begun;
    const { id } = begun;
    signal.addEventListener("abort", () => void cancelVerification(ws, id).catch(() => undefined));
    if (signal.aborted) await cancelVerification(ws, id);
    while (!signal.aborted && (now.state === "waiting" || now.state === "running")) {
      setComparison({ state: "running", doing: now.doing });
      await pause(signal);
      if (!signal.aborted) now = await getVerification(ws, id);
    }
    if (signal.aborted) return;
    setComparison(
      now.state === "done"
        ? { state: "done", differences: now.differences ?? [] }
        : { state: "failed", message: now.error === null ? "" : describeCause(now.error) },
    );
  };
  const start = () => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    run(own.signal).catch((error: unknown) => {
      if (!own.signal.aborted)
        setComparison({ state: "failed", message: String((error as Error).message) });
    });
  };
  const cancel = () => {
    running.current?.abort();
    setComparison({ state: "none" });
  };
  return { comparison, start, cancel };
}
