/** The API's operations that compile, simulate and test documents. */

import type { components } from "../schema";
import { answer, api } from "./client";
import { body } from "./topologyCalls";
import type {
  Beginning,
  CompileResult,
  Condition,
  Cut,
  DifferenceSearch,
  NewTopologyTest,
  Simulation,
  StateDifference,
  TopologyDocument,
  TopologyTest,
  TopologyTestPage,
  Verification,
} from "./types";

type Schemas = components["schemas"];

/** The largest number of record steps that a simulation returns. */
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

/** What happens to the state of a document when another one replaces it; null if one of them has errors. */
export const compareState = async (
  workspace: string,
  old: TopologyDocument,
  now: TopologyDocument,
): Promise<StateDifference | null> =>
  (
    await answer(
      api.POST("/api/workspaces/{workspace}/state-changes", {
        params: { path: { workspace } },
        body: { old: body(old), new: body(now) },
      }),
    )
  ).change;

/**
 * `breakpoints`: lines at which processors stop, by node. `partitions`: numbers of partitions by topic, instead of
 * those in the document. `plain`: the micro-batches for plain Spark. `run`: a name by which to watch or cancel the run.
 * `part`: of the topology that runs alone.
 */
export interface SimulationOptions {
  breakpoints?: Record<string, number[]>;
  partitions?: Record<string, number>;
  plain?: Cut;
  run?: string;
  part?: Schemas["PartRequest"];
}

/**
 * Runs a document on input lines. The result's state is `starting` while a simulator starts. With `expected`, the
 * result contains the differences and no steps. With `plain`, plain Spark runs the lines as well.
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

/** Like `simulate`, but for the deployed version, starting with its stores as of a micro-batch. */
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
 * Returns whether a simulation could run at once, and the progress of the person's run of that name. Starts a simulator
 * if none is running.
 */
export const prepareSimulator = (workspace: string, run?: string) =>
  answer(
    api.GET("/api/workspaces/{workspace}/simulations", {
      params: { path: { workspace }, query: run === undefined ? {} : { run } },
    }),
  );

/** Stops the run of that name, which then returns its results so far; without a name, ends all runs without results. */
export const cancelSimulation = (workspace: string, run?: string) =>
  api.DELETE("/api/workspaces/{workspace}/simulations", {
    params: { path: { workspace }, query: run === undefined ? {} : { run } },
  });

/** Searches for the shortest input on which two documents differ. `inputs`: lists of input lines that are tried first. */
export const searchDifference = (
  workspace: string,
  sides: { readonly old: TopologyDocument; readonly new: TopologyDocument },
  inputs: readonly unknown[][],
  run: string,
  signal: AbortSignal,
): Promise<DifferenceSearch> =>
  answer(
    api.POST("/api/workspaces/{workspace}/differences", {
      params: { path: { workspace } },
      body: { old: body(sides.old), new: body(sides.new), inputs: inputs as never, run } as never,
      signal,
    }),
  );

/** All tests of a topology, which never exceed one page of 200. */
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
