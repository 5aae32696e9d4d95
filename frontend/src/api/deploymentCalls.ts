/** The API's operations on deployments. */

import { answer, api } from "./client";
import { versionAt } from "./topologyCalls";
import type {
  Deployment,
  DeploymentSettings,
  EdgeRecords,
  Figures,
  FollowedRecord,
  FollowRequest,
  LogPage,
  MissingTopic,
  OldState,
  PlacementPage,
  PlacementQuery,
  RecordDecision,
  RunRecord,
  StartRequest,
  StatePlan,
  StateStores,
  StoreAnswer,
  StoreQuery,
} from "./types";

/** Topics that a version names and the cluster does not have. */
export const missingTopics = (topology: number, number: number): Promise<readonly MissingTopic[]> =>
  answer(
    api.GET(
      "/api/topologies/{topology}/versions/{number}/missing-topics",
      versionAt(topology, number),
    ),
  );

const deploymentAt = (deployment: number) => ({ params: { path: { deployment } } });

export const createDeployment = (
  workspace: string,
  deployment: { topology: number; version: number; settings: DeploymentSettings },
): Promise<Deployment> =>
  answer(
    api.POST("/api/workspaces/{workspace}/deployments", {
      params: { path: { workspace } },
      body: { target: "local", ...deployment },
    }),
  );

export type DeploymentAction =
  | "start"
  | "stop"
  | "drain"
  | "pause"
  | "resume"
  | "restart"
  | "cancel";

export const actOnDeployment = (
  deployment: number,
  action: DeploymentAction,
): Promise<Deployment> =>
  action === "drain"
    ? answer(
        api.POST("/api/deployments/{deployment}/stop", {
          ...deploymentAt(deployment),
          body: { drain: true },
        }),
      )
    : answer(api.POST(`/api/deployments/{deployment}/${action}`, deploymentAt(deployment)));

/** Skips the record at which it failed, or sends it to the dead letters, once, and starts it again. */
export const decideRecord = (deployment: number, decision: RecordDecision): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/failed-record", {
      ...deploymentAt(deployment),
      body: decision,
    }),
  );

export const redeploy = (
  deployment: number,
  version: number,
  settings: DeploymentSettings | null,
  stores: Readonly<Record<string, "reset" | "drop" | { convert: string }>> = {},
  start: StartRequest = {},
): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/redeploy", {
      ...deploymentAt(deployment),
      body: { version, stores, ...start, ...(settings === null ? {} : { settings }) },
    }),
  );

/** What deploying a version does to the state that there is. */
export const getPlan = (deployment: number, version: number): Promise<StatePlan> =>
  answer(
    api.GET("/api/deployments/{deployment}/plan", {
      params: { path: { deployment }, query: { version } },
    }),
  );

/** The plan of a start from elsewhere than where the deployment stopped. */
export const getStartPlan = (
  deployment: number,
  version: number,
  start: StartRequest,
): Promise<StatePlan> =>
  answer(
    api.POST("/api/deployments/{deployment}/plan", {
      ...deploymentAt(deployment),
      body: { version, ...start },
    }),
  );

/** How a deployment that runs would get other settings. */
export const getSettingsPlan = (
  deployment: number,
  version: number,
  settings: DeploymentSettings,
): Promise<StatePlan> =>
  answer(
    api.POST("/api/deployments/{deployment}/plan", {
      ...deploymentAt(deployment),
      body: { version, settings },
    }),
  );

/** Other threads and memory for a deployment that runs. */
export const scaleDeployment = (
  deployment: number,
  wanted: { cores: number; memory_mb: number },
): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/scale", { ...deploymentAt(deployment), body: wanted }),
  );

/** The stores of a deployment that can be queried; none before its first start. */
export const listStores = (deployment: number): Promise<StateStores> =>
  answer(api.GET("/api/deployments/{deployment}/stores", deploymentAt(deployment)));

/** A page of a store; without one while the process that reads stores is starting. */
export const readStore = (
  deployment: number,
  store: string,
  query: StoreQuery,
  signal: AbortSignal,
): Promise<StoreAnswer> =>
  answer(
    api.GET("/api/deployments/{deployment}/stores/{store}", {
      params: { path: { deployment, store }, query },
      signal,
    }),
  );

/** State that the deployment left when it was moved or reset, the newest first. */
export const listOldState = (deployment: number): Promise<readonly OldState[]> =>
  answer(api.GET("/api/deployments/{deployment}/old-state", deploymentAt(deployment)));

export const deleteOldState = (deployment: number, name: string) =>
  answer(
    api.DELETE("/api/deployments/{deployment}/old-state/{name}", {
      params: { path: { deployment, name } },
    }),
  );

/** Where the thread dump of a run is, of a driver that did not respond. */
export const threadsLink = (deployment: number, run: number): string =>
  `/api/deployments/${deployment}/runs/${run}/threads`;

export const listRuns = async (deployment: number): Promise<readonly RunRecord[]> =>
  (await answer(api.GET("/api/deployments/{deployment}/runs", deploymentAt(deployment)))).results;

export const getLogs = (deployment: number): Promise<LogPage> =>
  answer(api.GET("/api/deployments/{deployment}/logs", deploymentAt(deployment)));

/** The last records over an edge, newest first; the driver keeps them while this is called regularly. */
/** Withdraws what was decided about a record, if the deployment has not read past it. */
export const removeDecision = (
  deployment: number,
  { offset, partition, topic }: Pick<RecordDecision, "topic" | "partition" | "offset">,
): Promise<Deployment> =>
  answer(
    api.DELETE("/api/deployments/{deployment}/record-decisions/{topic}/{partition}/{offset}", {
      params: { path: { deployment, topic, partition, offset } },
    }),
  );

/** A record of what a deployment reads, with those around it, as input lines; or where the search is. */
export const followRecord = (
  deployment: number,
  asked: Pick<FollowRequest, "topic"> & Partial<FollowRequest>,
  signal: AbortSignal,
): Promise<FollowedRecord> =>
  answer(
    api.POST("/api/deployments/{deployment}/followed-record", {
      ...deploymentAt(deployment),
      body: asked as FollowRequest,
      signal,
    }),
  );

/** A figure over a range; of all names, or of one. */
export const getFigures = (
  deployment: number,
  figure: Figures["figure"],
  range: Figures["range"],
  name: string | null,
  signal?: AbortSignal,
): Promise<Figures> =>
  answer(
    api.GET("/api/deployments/{deployment}/figures", {
      params: {
        path: { deployment },
        query: { figure, range, ...(name === null ? {} : { name: [name] }) },
      },
      ...(signal === undefined ? {} : { signal }),
    }),
  );

/** Where tasks ran within a range, the last move first. */
export const listPlacements = (deployment: number, query: PlacementQuery): Promise<PlacementPage> =>
  answer(
    api.GET("/api/deployments/{deployment}/placements", {
      params: { path: { deployment }, query },
    }),
  );

export const getEdgeRecords = (
  deployment: number,
  edge: string,
  signal?: AbortSignal,
): Promise<EdgeRecords> =>
  answer(
    api.GET("/api/deployments/{deployment}/records", {
      params: { path: { deployment }, query: { edge } },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
