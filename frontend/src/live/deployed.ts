/** The running version. Live figures belong to it, even if the canvas shows another document. */

import { useEffect } from "react";
import { create } from "zustand";
import { compileDocument } from "../api/compileCalls";
import { getVersion } from "../api/topologyCalls";
import type { Sentence } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { type Environment, inEnvironment } from "../graph/parameters";
import { useLive } from "./store";

export interface Deployed {
  readonly topology: number;
  readonly version: number;
  readonly document: TopologyDocument;
  /** Sub-topologies by node, from the version's plan. */
  readonly subtopologies: Readonly<Record<string, readonly number[]>>;
  /** The environment whose values the parameters have; null: their defaults. */
  readonly environment: Environment | null;
  /** The sentence of each node, with these values. */
  readonly summary: Readonly<Record<string, Sentence>>;
}

export const useDeployed = create<{ deployed: Deployed | null }>()(() => ({ deployed: null }));

const RETRY_MS = 3_000;

async function load(
  workspace: string,
  topology: number,
  version: number,
  environment: Environment | null,
  signal: AbortSignal,
): Promise<Deployed> {
  const { document } = await getVersion(topology, version);
  const runs = inEnvironment(document, environment);
  const { plan, summary } = await compileDocument(workspace, runs, 0, signal);
  const nodes = Object.entries(plan?.nodes ?? {});
  const subtopologies = Object.fromEntries(nodes.map(([id, node]) => [id, node.subtopologies]));
  return { topology, version, document, subtopologies, environment, summary };
}

/** Keeps the running version loaded while the page is open. */
export function useDeployedVersion(workspace: string, topology: number): void {
  // Between two runs it is the version that will run next.
  const version = useLive(
    ({ deployment }) => deployment?.run?.version ?? deployment?.version ?? null,
  );
  const environment = useLive(({ deployment }) => deployment?.settings.environment ?? null);
  useEffect(() => {
    if (version === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const deployed = await load(workspace, topology, version, environment, signal);
        if (!signal.aborted) useDeployed.setState({ deployed });
      } catch {
        if (!signal.aborted) timer = setTimeout(ask, RETRY_MS);
      }
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
      useDeployed.setState({ deployed: null });
    };
  }, [workspace, topology, version, environment]);
}
