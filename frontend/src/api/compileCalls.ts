/** The API's operations that compile and simulate documents, and on tests. */

import { answer, api } from "./client";
import { body } from "./topologyCalls";
import type {
  Beginning,
  CompileResult,
  Condition,
  Cut,
  NewTopologyTest,
  Simulation,
  TopologyDocument,
  TopologyTest,
  TopologyTestPage,
  Verification,
} from "./types";

/** Steps of records that the answer of a simulation has at most. */
const MOST_STEPS = 20_000;

export const compileDocument = (
  workspace: string,
  document: TopologyDocument,
  revision: number,
  signal?: AbortSignal,
  dialect: "exact" | "plain" = "exact",
  conditions: readonly Condition[] = [],
): Promise<CompileResult> =>
  answer(
    api.POST("/api/workspaces/{workspace}/compile", {
      params: { path: { workspace } },
      body: { document: body(document), revision, dialect, conditions: [...conditions] },
      ...(signal === undefined ? {} : { signal }),
    }),
  );

/**
 * Lines at which processors stop, by node; partitions of topics in place of the document's;
 * micro-batches in plain Spark; the name by which the run is watched and stopped.
 */
export interface SimulationOptions {
  breakpoints?: Record<string, number[]>;
  partitions?: Record<string, number>;
  plain?: Cut;
  run?: string;
}

/**
 * Runs a document on input lines; its state is `starting` while a simulator starts. With `expected`
 * the result says what differs, and has no steps. With `plain` plain Spark runs them, too.
 */
export const simulate = (
  workspace: string,
  document: TopologyDocument,
  inputs: readonly unknown[],
  expected: TopologyTest["expected"] | null,
  signal: AbortSignal,
  more: SimulationOptions = {},
): Promise<Simulation> =>
  answer(
    api.POST("/api/workspaces/{workspace}/simulations", {
      params: { path: { workspace } },
      body: {
        document: body(document),
        inputs: [...inputs] as never,
        steps: MOST_STEPS,
        ...(expected === null ? {} : { expected }),
        ...more,
      },
      signal,
    }),
  );

/** The same for the version that is deployed, beginning with its stores after a micro-batch. */
export const simulateDeployed = (
  deployment: number,
  inputs: readonly unknown[],
  begins: Beginning,
  signal: AbortSignal,
  more: Pick<SimulationOptions, "breakpoints" | "partitions" | "run">,
): Promise<Simulation> =>
  answer(
    api.POST("/api/deployments/{deployment}/simulations", {
      params: { path: { deployment } },
      body: { inputs: [...inputs] as never, begins, steps: MOST_STEPS, ...more },
      signal,
    }),
  );

/**
 * Whether a simulation would run at once, and how far the person's run of that name is; starts a
 * simulator where there is none.
 */
export const prepareSimulator = (workspace: string, run?: string) =>
  answer(
    api.GET("/api/workspaces/{workspace}/simulations", {
      params: { path: { workspace }, query: run === undefined ? {} : { run } },
    }),
  );

/** Stops the run of that name, which answers with what it has; without one ends all, with nothing. */
export const cancelSimulation = (workspace: string, run?: string) =>
  api.DELETE("/api/workspaces/{workspace}/simulations", {
    params: { path: { workspace }, query: run === undefined ? {} : { run } },
  });

/** All tests: there are never more than a page of 200. */
export const listTests = (topology: number): Promise<TopologyTestPage> =>
  answer(
    api.GET("/api/topologies/{topology}/tests", {
      params: { path: { topology }, query: { page_size: 200 } },
    }),
  );

/** Compares a document's results on input lines with those of Kafka Streams itself. */
export const startVerification = (
  workspace: string,
  document: TopologyDocument,
  inputs: readonly unknown[],
): Promise<Verification> =>
  answer(
    api.POST("/api/workspaces/{workspace}/verifications", {
      params: { path: { workspace } },
      body: { document: body(document), inputs: [...inputs] as never },
    }),
  );

const verificationAt = (workspace: string, verification: string) => ({
  params: { path: { workspace, verification } },
});

export const getVerification = (workspace: string, id: string): Promise<Verification> =>
  answer(
    api.GET(
      "/api/workspaces/{workspace}/verifications/{verification}",
      verificationAt(workspace, id),
    ),
  );

export const cancelVerification = (workspace: string, id: string): Promise<void> =>
  answer(
    api.DELETE(
      "/api/workspaces/{workspace}/verifications/{verification}",
      verificationAt(workspace, id),
    ),
  );

export const createTest = (topology: number, test: NewTopologyTest): Promise<TopologyTest> =>
  answer(
    api.POST("/api/topologies/{topology}/tests", { params: { path: { topology } }, body: test }),
  );

export const replaceTest = (
  topology: number,
  id: number,
  test: NewTopologyTest,
): Promise<TopologyTest> =>
  answer(
    api.PUT("/api/topologies/{topology}/tests/{test}", {
      params: { path: { topology, test: id } },
      body: test,
    }),
  );

export const deleteTest = (topology: number, id: number) =>
  answer(
    api.DELETE("/api/topologies/{topology}/tests/{test}", {
      params: { path: { topology, test: id } },
    }),
  );
