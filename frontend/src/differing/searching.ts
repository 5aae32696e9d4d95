/** Searches for an input on which two versions of the open topology give different results. */

import { useEffect, useRef, useState } from "react";
import {
  cancelSimulation,
  listTests,
  prepareSimulator,
  searchDifference,
} from "../api/compileCalls";
import { listTopics, sampleTopic } from "../api/topicCalls";
import type { DifferenceSearch, TopologyDocument } from "../api/types";
import { useDesigner } from "../designer/store";
import { inEnvironment } from "../graph/parameters";
import { PATIENCE_MS, wait } from "../simulate/polling";
import { linesFor, linesOf, type Source, sourcesOf } from "../simulate/scenario";
import { useSimulation } from "../simulate/store";
import { t } from "../ui/i18n";

/** The interval in milliseconds at which the progress is requested. */
const WATCH_MS = 400;
/** The largest number of tests that a search begins with. */
const MOST_SEEDS = 50;
/** The largest number of records of each topic that a search begins with. */
const MOST_SAMPLED = 20;
/** How long a search waits for records of topics, in milliseconds. */
const SAMPLING_MS = 5_000;

/** The two documents to compare. */
export interface Sides {
  readonly old: TopologyDocument;
  readonly new: TopologyDocument;
}

export type Search =
  | { readonly state: "none" }
  | { readonly state: "starting" }
  | { readonly state: "running"; readonly inputs: number; readonly cancelling: boolean }
  | {
      readonly state: "done";
      readonly answer: DifferenceSearch;
      readonly sides: Sides;
      readonly cancelled: boolean;
    }
  | { readonly state: "failed"; readonly message: string };

/** The newest records of the topics that a document reads, by time; none of those that cannot be read at once. */
async function sampled(ws: string, document: TopologyDocument): Promise<unknown[]> {
  const asked = { count: MOST_SAMPLED, start: "latest", headers: true, masks: {} } as const;
  const late = new Promise<[]>((resolve) => setTimeout(() => resolve([]), SAMPLING_MS));
  const there = listTopics(ws).then(
    (topics) => new Set(topics.map(({ name }) => name)),
    () => new Set<string>(),
  );
  const newest = async ({ key, topic, value }: Source) => {
    if (!(await there).has(topic)) return [];
    return (await sampleTopic(ws, topic, { ...asked, key, value })).lines;
  };
  const found = await Promise.all(
    sourcesOf(document).map((source) => Promise.race([late, newest(source).catch(() => [])])),
  );
  const timeOf = (line: Readonly<Record<string, unknown>>) => Number(line.timestamp ?? 0);
  return found.flat().sort((one, other) => timeOf(one) - timeOf(other));
}

/**
 * The inputs that a search begins with: the records in *Simulate*, the inputs of the topology's tests, and records of
 * its topics in an environment.
 */
async function seeds(
  ws: string,
  topology: number,
  environment: string | null,
): Promise<unknown[][]> {
  const { document } = useDesigner.getState();
  const there = inEnvironment(document, environment);
  const [tests, records] = await Promise.all([
    listTests(topology).then(
      (page) => page.results,
      () => [],
    ),
    sampled(ws, there),
  ]);
  const { rows } = useSimulation.getState();
  const { lines, bad } = linesOf(rows, sourcesOf(document));
  const own = bad.length === 0 && lines.length > 0 ? [[...lines]] : [];
  const kept = [...own, ...tests.slice(0, MOST_SEEDS).map((test) => [...test.inputs])];
  return [...kept.map((lines) => [...linesFor<unknown>(lines, document, there)]), records]
    .map((inputs) => inputs.filter((line) => !("restart" in (line as object))))
    .filter((inputs) => inputs.length > 0);
}

async function watch(
  ws: string,
  run: string,
  signal: AbortSignal,
  onInputs: (inputs: number) => void,
): Promise<void> {
  for (;;) {
    await wait(signal, WATCH_MS);
    const { progress } = await prepareSimulator(ws, run);
    if (progress !== null && !signal.aborted) onInputs(progress.done);
  }
}

/** A search that is canceled when the component is unmounted. `environment`: whose topics it samples. */
export function useSearch(ws: string, topology: number | null, environment: string | null) {
  const [search, setSearch] = useState<Search>({ state: "none" });
  const running = useRef<{ readonly run: string; readonly over: AbortController } | null>(null);
  const cancelled = useRef(false);
  const stop = () => {
    const { current } = running;
    if (current !== null) void cancelSimulation(ws, current.run);
    return current;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it is unmounted
  useEffect(() => () => stop()?.over.abort(), []);

  const found = async (load: () => Promise<Sides>, run: string, signal: AbortSignal) => {
    const sides = await load();
    const inputs = topology === null ? [] : await seeds(ws, topology, environment);
    const began = performance.now();
    for (;;) {
      const watching = new AbortController();
      void watch(ws, run, watching.signal, (count) =>
        setSearch((now) =>
          now.state === "running" || now.state === "starting"
            ? { state: "running", inputs: count, cancelling: cancelled.current }
            : now,
        ),
      ).catch(() => undefined);
      const answer = await searchDifference(ws, sides, inputs, run, signal).finally(() =>
        watching.abort(),
      );
      if (answer.state === "done") return { answer, sides };
      if (performance.now() - began > PATIENCE_MS)
        throw new Error(
          t({
            id: "common.simulator_did_not_start",
            message:
              "The simulator did not start. See the log of the service simulator for the cause.",
          }),
        );
      setSearch({ state: "starting" });
      await wait(signal);
    }
  };

  const start = async (load: () => Promise<Sides>) => {
    const over = new AbortController();
    const run = `differ-${Math.random().toString(36).slice(2)}`;
    running.current = { run, over };
    cancelled.current = false;
    setSearch({ state: "running", inputs: 0, cancelling: false });
    try {
      const done = await found(load, run, over.signal);
      setSearch({ state: "done", ...done, cancelled: cancelled.current });
    } catch (error) {
      if (!over.signal.aborted) setSearch({ state: "failed", message: (error as Error).message });
    } finally {
      if (running.current?.run === run) running.current = null;
    }
  };

  /** Ends the search, which then shows what it has; one that waits for the simulator ends at once. */
  const cancel = () => {
    cancelled.current = true;
    const current = stop();
    if (search.state === "starting") {
      current?.over.abort();
      setSearch({ state: "none" });
    } else if (search.state === "running") setSearch({ ...search, cancelling: true });
  };
  return { search, start, cancel };
}
