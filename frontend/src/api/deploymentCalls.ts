/** The API's operations on deployments. */

import type { Environment } from "../graph/parameters";
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
  NewSchedule,
  OldState,
  PlacementPage,
  PlacementQuery,
  Promotion,
  RecordDecision,
  RunRecord,
  StartRequest,
  StatePlan,
  StateStores,
  StoreAnswer,
  StoreQuery,
} from "./types";

/** Topics that a version uses and that do not exist in the cluster. */
export const missingTopics = (
  topology: number,
  number: number,
  environment: DeploymentSettings["environment"],
): Promise<readonly MissingTopic[]> => {
  const { params } = versionAt(topology, number);
  return answer(
    api.GET("/api/topologies/{topology}/versions/{number}/missing-topics", {
      params: { ...params, query: environment === undefined ? {} : { environment } },
    }),
  );
};

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

/** Skips the record that failed, or sends it to the dead letter topic, once, and restarts the deployment. */
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

/** What deploying a version would do to the existing state. */
export const getPlan = (deployment: number, version: number): Promise<StatePlan> =>
  answer(
    api.GET("/api/deployments/{deployment}/plan", {
      params: { path: { deployment }, query: { version } },
    }),
  );

/** The plan for a start from another position than where the deployment stopped. */
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

/** The plan for changing the settings of a running deployment. */
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

/** What deploying a deployment's version in another environment would do. */
export const getPromotion = (deployment: number, environment: Environment): Promise<Promotion> =>
  answer(
    api.GET("/api/deployments/{deployment}/promotion", {
      params: { path: { deployment }, query: { environment } },
    }),
  );

/** Deploys a deployment's version in another environment, in the deployment there or in a new one. */
export const promote = (
  deployment: number,
  environment: Environment,
  change: {
    settings?: DeploymentSettings;
    stores?: Readonly<Record<string, "reset" | "drop" | { convert: string }>>;
  },
): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/promotion", {
      ...deploymentAt(deployment),
      body: { environment, ...change },
    }),
  );

/** Changes the threads and memory of a running deployment. */
export const scaleDeployment = (
  deployment: number,
  wanted: { cores: number; memory_mb: number },
): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/scale", { ...deploymentAt(deployment), body: wanted }),
  );

/** Sets the times at which a deployment is started and stopped. */
export const setSchedule = (deployment: number, schedule: NewSchedule): Promise<Deployment> =>
  answer(
    api.PUT("/api/deployments/{deployment}/schedule", {
      ...deploymentAt(deployment),
      body: schedule,
    }),
  );

/** Deletes a deployment that does not run, with its state. */
export const deleteDeployment = (deployment: number) =>
  answer(api.DELETE("/api/deployments/{deployment}", deploymentAt(deployment)));

export const removeSchedule = (deployment: number): Promise<Deployment> =>
  answer(api.DELETE("/api/deployments/{deployment}/schedule", deploymentAt(deployment)));

/** The stores of a deployment that can be queried; none before its first start. */
export const listStores = (deployment: number): Promise<StateStores> =>
  answer(api.GET("/api/deployments/{deployment}/stores", deploymentAt(deployment)));

/** A page of a store, or no page while the process that reads stores is starting. */
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

/** State left behind when the deployment was moved or reset, newest first. */
export const listOldState = (deployment: number): Promise<readonly OldState[]> =>
  answer(api.GET("/api/deployments/{deployment}/old-state", deploymentAt(deployment)));

export const deleteOldState = (deployment: number, name: string) =>
  answer(
    api.DELETE("/api/deployments/{deployment}/old-state/{name}", {
      params: { path: { deployment, name } },
    }),
  );

/** The address of the thread dump of a run whose driver did not respond. */
export const threadsLink = (deployment: number, run: number): string =>
  `/api/deployments/${deployment}/runs/${run}/threads`;

export const listRuns = async (deployment: number): Promise<readonly RunRecord[]> =>
  (await answer(api.GET("/api/deployments/{deployment}/runs", deploymentAt(deployment)))).results;

export const getLogs = (deployment: number): Promise<LogPage> =>
  answer(api.GET("/api/deployments/{deployment}/logs", deploymentAt(deployment)));

/** Withdraws a decision about a record, unless the deployment has already read past the record. */
export const removeDecision = (
  deployment: number,
  { offset, partition, topic }: Pick<RecordDecision, "topic" | "partition" | "offset">,
): Promise<Deployment> =>
  answer(
    api.DELETE("/api/deployments/{deployment}/record-decisions/{topic}/{partition}/{offset}", {
      params: { path: { deployment, topic, partition, offset } },
    }),
  );

/** A record that a deployment reads and its neighbors, as input lines, or the progress of the search for it. */
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

/** One figure over a range of time, for one name or for all. */
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

/** The last records over an edge, newest first. The driver keeps them while this is called regularly. */
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
