/** The API's operations, one function each. */

import type { Catalogue } from "../graph/catalogue";
import { answer, api } from "./client";
import type { components, paths } from "./schema";
import type {
  AccountPage,
  AddedMember,
  CompileResult,
  ConsumerGroups,
  CreatedToken,
  Deployment,
  DeploymentSettings,
  Draft,
  EdgeRecords,
  Figures,
  Generator,
  GeneratorPage,
  LogPage,
  Member,
  MissingTopic,
  NewGenerator,
  NewMember,
  NewRecord,
  NewTopic,
  NewTopologyTest,
  OldState,
  PlacementPage,
  RawRecord,
  Recipe,
  RecordFormat,
  RecordPage,
  Role,
  RunRecord,
  SampleRequest,
  Session,
  Simulation,
  StartRequest,
  StatePlan,
  StateStores,
  StoreAnswer,
  StoreQuery,
  Template,
  Token,
  TopicDetail,
  TopicFiguresPage,
  TopicUse,
  TopologyDocument,
  TopologyPage,
  TopologySummary,
  TopologyTest,
  TopologyTestPage,
  Tried,
  Version,
  VersionSummary,
  WorkspaceRules,
  WorkspaceSettings,
} from "./types";

/** Steps of records that the answer of a simulation has at most. */
const MOST_STEPS = 20_000;

/** The page's documents are read-only; the client's types, made for any caller, are not. */
function body(document: TopologyDocument): components["schemas"]["DocumentRequest"] {
  return document as unknown as components["schemas"]["DocumentRequest"];
}

// -- Session ---------------------------------------------------------------------------------------

export const getSession = (): Promise<Session> => answer(api.GET("/api/session"));

export const signIn = (username: string, password: string): Promise<Session> =>
  answer(api.POST("/api/session", { body: { username, password } }));

export const signInByLink = (token: string): Promise<Session> =>
  answer(api.POST("/api/session/link", { body: { token } }));

export const signOut = () => api.DELETE("/api/session");

export const setPassword = (current: string, next: string): Promise<Session> =>
  answer(api.PUT("/api/account/password", { body: { current, new: next } }));

export const listTokens = (): Promise<readonly Token[]> => answer(api.GET("/api/tokens"));

export const createToken = (name: string, days: number): Promise<CreatedToken> =>
  answer(api.POST("/api/tokens", { body: { name, days } }));

export const deleteToken = (token: number) =>
  api.DELETE("/api/tokens/{token}", { params: { path: { token } } });

// -- Workspaces ------------------------------------------------------------------------------------

export const getCatalogue = (): Promise<Catalogue> =>
  answer(api.GET("/api/catalog")) as Promise<Catalogue>;

export const sampleInputs = (
  topology: number,
): Promise<{ readonly inputs: readonly Record<string, unknown>[] }> =>
  answer(api.GET("/api/topologies/{topology}/sample-inputs", { params: { path: { topology } } }));

export const listTemplates = (): Promise<readonly Template[]> => answer(api.GET("/api/templates"));

export const getRules = (workspace: string): Promise<WorkspaceRules> =>
  answer(api.GET("/api/workspaces/{workspace}/rules", { params: { path: { workspace } } }));

export const setRules = (workspace: string, rules: WorkspaceRules): Promise<WorkspaceRules> =>
  answer(
    api.PUT("/api/workspaces/{workspace}/rules", {
      params: { path: { workspace } },
      body: rules,
    }),
  );

export const listMembers = (workspace: string): Promise<readonly Member[]> =>
  answer(api.GET("/api/workspaces/{workspace}/members", { params: { path: { workspace } } }));

export const addMember = (workspace: string, member: NewMember): Promise<AddedMember> =>
  answer(
    api.POST("/api/workspaces/{workspace}/members", {
      params: { path: { workspace } },
      body: member,
    }),
  );

export const changeMember = (workspace: string, member: number, role: Role): Promise<Member> =>
  answer(
    api.PATCH("/api/workspaces/{workspace}/members/{member}", {
      params: { path: { workspace, member } },
      body: { role },
    }),
  );

export const removeMember = (workspace: string, member: number) =>
  api.DELETE("/api/workspaces/{workspace}/members/{member}", {
    params: { path: { workspace, member } },
  });

/** A new one-time sign-in link for a member; earlier ones become invalid. */
export const memberLink = (workspace: string, member: number): Promise<{ sign_in_link: string }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/members/{member}/link", {
      params: { path: { workspace, member } },
    }),
  );

// -- Installation ----------------------------------------------------------------------------------

export const listWorkspaces = (): Promise<readonly WorkspaceSettings[]> =>
  answer(api.GET("/api/installation/workspaces"));

export const setTopicPrefixes = (
  workspace: string,
  prefixes: string[],
): Promise<WorkspaceSettings> =>
  answer(
    api.PUT("/api/installation/workspaces/{workspace}", {
      params: { path: { workspace } },
      body: { topic_prefixes: prefixes },
    }),
  );

export const listAccounts = (search: string, page: number, size: number): Promise<AccountPage> =>
  answer(
    api.GET("/api/installation/accounts", {
      params: { query: { search, page, page_size: size } },
    }),
  );

export const accountLink = (account: number): Promise<{ sign_in_link: string }> =>
  answer(api.POST("/api/installation/accounts/{account}/link", { params: { path: { account } } }));

export const listTopics = (workspace: string) =>
  answer(api.GET("/api/workspaces/{workspace}/topics", { params: { path: { workspace } } }));

export const listTopicFigures = (
  workspace: string,
  search: string,
  page: number,
  size: number,
): Promise<TopicFiguresPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topic-figures", {
      params: { path: { workspace }, query: { search, page, page_size: size } },
    }),
  );

const topicAt = (workspace: string, topic: string) => ({ path: { workspace, topic } });

export const getTopic = (workspace: string, topic: string): Promise<TopicDetail> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}", { params: topicAt(workspace, topic) }),
  );

export const deleteTopic = (workspace: string, topic: string) =>
  api.DELETE("/api/workspaces/{workspace}/topics/{topic}", { params: topicAt(workspace, topic) });

export const listGroups = (workspace: string, topic: string): Promise<ConsumerGroups> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/groups", {
      params: topicAt(workspace, topic),
    }),
  );

type RecordsCall = paths["/api/workspaces/{workspace}/topics/{topic}/records"]["get"]["parameters"];

export interface RecordsQuery {
  start?: "latest" | "earliest" | "offset" | "time";
  partition?: number;
  offset?: number;
  time?: number;
  limit?: number;
  key_format?: RecordFormat;
  value_format?: RecordFormat;
  contains?: string;
  field?: string;
  equals?: string;
  compare?: NonNullable<NonNullable<RecordsCall["query"]>["compare"]>;
  reader?: string;
  cursor?: string;
}

export const listRecords = (
  workspace: string,
  topic: string,
  query: RecordsQuery,
  signal?: AbortSignal,
): Promise<RecordPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/records", {
      params: { ...topicAt(workspace, topic), query },
      ...(signal === undefined ? {} : { signal }),
    }),
  );

export const getRecord = (
  workspace: string,
  topic: string,
  partition: number,
  offset: number,
  formats: { key_format: RecordFormat; value_format: RecordFormat; reader: string },
): Promise<RawRecord> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/records/{partition}/{offset}", {
      params: { path: { workspace, topic, partition, offset }, query: formats },
    }),
  );

export const topicUses = (
  workspace: string,
  topic: string,
): Promise<{ readonly uses: readonly TopicUse[] }> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/uses", {
      params: topicAt(workspace, topic),
    }),
  );

/** Records of a topic as input lines of a simulation, with masked fields. */
export const sampleTopic = (
  workspace: string,
  topic: string,
  asked: SampleRequest,
): Promise<{ readonly lines: readonly Record<string, unknown>[]; readonly skipped: number }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/samples", {
      params: topicAt(workspace, topic),
      body: asked,
    }),
  );

export const listGenerators = (workspace: string, search: string): Promise<GeneratorPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/generators", {
      params: { path: { workspace }, query: { search, page_size: 100 } },
    }),
  );

export const startGenerator = (workspace: string, made: NewGenerator): Promise<Generator> =>
  answer(
    api.POST("/api/workspaces/{workspace}/generators", {
      params: { path: { workspace } },
      body: made,
    }),
  );

export const stopGenerator = (generator: number): Promise<Generator> =>
  answer(api.POST("/api/generators/{generator}/stop", { params: { path: { generator } } }));

/** Random records as input lines of a simulation; nothing is written. */
export const generateRecords = (
  workspace: string,
  asked: { topic: string; recipe: Recipe; count: number; every: number },
): Promise<{ readonly lines: readonly Record<string, unknown>[] }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/generated-records", {
      params: { path: { workspace } },
      body: asked,
    }),
  );

/** The topology of a template, its topics and its generators; the title in a language. */
export const tryTemplate = (
  workspace: string,
  template: string,
  language: string,
): Promise<Tried> =>
  answer(
    api.POST("/api/workspaces/{workspace}/templates/{template_id}/try", {
      params: { path: { workspace, template_id: template } },
      headers: { "Accept-Language": language },
    }),
  );

export const produceRecord = (
  workspace: string,
  topic: string,
  record: NewRecord,
): Promise<{ partition: number; offset: number }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/records", {
      params: topicAt(workspace, topic),
      body: record,
    }),
  );

export const compileDocument = (
  workspace: string,
  document: TopologyDocument,
  revision: number,
  signal?: AbortSignal,
  dialect: "exact" | "plain" = "exact",
): Promise<CompileResult> =>
  answer(
    api.POST("/api/workspaces/{workspace}/compile", {
      params: { path: { workspace } },
      body: { document: body(document), revision, dialect },
      ...(signal === undefined ? {} : { signal }),
    }),
  );

/**
 * Runs a document on input lines; its state is `starting` while a simulator starts. With `expected`
 * the result says what differs, and has no steps.
 */
export const simulate = (
  workspace: string,
  document: TopologyDocument,
  inputs: readonly unknown[],
  expected: TopologyTest["expected"] | null,
  signal: AbortSignal,
): Promise<Simulation> =>
  answer(
    api.POST("/api/workspaces/{workspace}/simulations", {
      params: { path: { workspace } },
      body: {
        document: body(document),
        inputs: [...inputs] as never,
        steps: MOST_STEPS,
        ...(expected === null ? {} : { expected }),
      },
      signal,
    }),
  );

/** Whether a simulation would run at once; starts a simulator where there is none. */
export const prepareSimulator = (workspace: string) =>
  answer(api.GET("/api/workspaces/{workspace}/simulations", { params: { path: { workspace } } }));

export const cancelSimulation = (workspace: string) =>
  api.DELETE("/api/workspaces/{workspace}/simulations", { params: { path: { workspace } } });

// -- Tests of a topology ---------------------------------------------------------------------------

/** All tests: there are never more than a page of 200. */
export const listTests = (topology: number): Promise<TopologyTestPage> =>
  answer(
    api.GET("/api/topologies/{topology}/tests", {
      params: { path: { topology }, query: { page_size: 200 } },
    }),
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

// -- Topologies ------------------------------------------------------------------------------------

export interface TopologyQuery {
  search?: string;
  ordering?: string;
  page?: number;
  page_size?: number;
}

export const listTopologies = (workspace: string, query: TopologyQuery): Promise<TopologyPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topologies", {
      params: { path: { workspace }, query: query as never },
    }),
  );

export interface NewTopology {
  name: string;
  description?: string;
  document?: TopologyDocument;
  template?: string;
}

export const createTopology = (workspace: string, made: NewTopology): Promise<TopologySummary> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topologies", {
      params: { path: { workspace } },
      body: {
        name: made.name,
        description: made.description ?? "",
        ...(made.document === undefined ? {} : { document: body(made.document) }),
        ...(made.template === undefined ? {} : { template: made.template }),
      },
    }),
  );

const topologyAt = (topology: number) => ({ params: { path: { topology } } });
const versionAt = (topology: number, number: number) => ({
  params: { path: { topology, number } },
});

export const getTopology = (topology: number): Promise<TopologySummary> =>
  answer(api.GET("/api/topologies/{topology}", topologyAt(topology)));

export const changeTopology = (
  topology: number,
  change: { name?: string; description?: string },
): Promise<TopologySummary> =>
  answer(api.PATCH("/api/topologies/{topology}", { ...topologyAt(topology), body: change }));

export const deleteTopology = (topology: number) =>
  api.DELETE("/api/topologies/{topology}", topologyAt(topology));

export const getDraft = (topology: number): Promise<Draft> =>
  answer(
    api.GET("/api/topologies/{topology}/draft", topologyAt(topology)),
  ) as Promise<unknown> as Promise<Draft>;

export const putDraft = (
  topology: number,
  draft: Pick<Draft, "document" | "base_version" | "revision">,
): Promise<Draft> =>
  answer(
    api.PUT("/api/topologies/{topology}/draft", {
      ...topologyAt(topology),
      body: { ...draft, document: body(draft.document) },
    }),
  ) as Promise<unknown> as Promise<Draft>;

export const discardDraft = (topology: number) =>
  api.DELETE("/api/topologies/{topology}/draft", topologyAt(topology));

/** The person in this page edits a node (or none): the others see it. */
export const sendPresence = (topology: number, node: string | null) =>
  api.PUT("/api/topologies/{topology}/presence", { ...topologyAt(topology), body: { node } });

export const listVersions = async (topology: number): Promise<readonly VersionSummary[]> => {
  const page = await answer(
    api.GET("/api/topologies/{topology}/versions", {
      params: { path: { topology }, query: { page_size: 200 } },
    }),
  );
  return page.results;
};

export const getVersion = (topology: number, number: number): Promise<Version> =>
  answer(
    api.GET("/api/topologies/{topology}/versions/{number}", versionAt(topology, number)),
  ) as Promise<unknown> as Promise<Version>;

export const createVersion = (
  topology: number,
  version: {
    document: TopologyDocument;
    message: string;
    base_version: number | null;
    draft_revision: string | null;
  },
): Promise<Version> =>
  answer(
    api.POST("/api/topologies/{topology}/versions", {
      ...topologyAt(topology),
      body: { ...version, document: body(version.document) },
    }),
  ) as Promise<unknown> as Promise<Version>;

/** The zip with the job of a version. */
export const downloadExport = (
  topology: number,
  number: number,
  dialect: "exact" | "plain" = "exact",
): Promise<Blob> =>
  answer(
    api.GET("/api/topologies/{topology}/versions/{number}/export", {
      params: { ...versionAt(topology, number).params, query: { dialect } },
      parseAs: "blob",
    }),
  ) as Promise<unknown> as Promise<Blob>;

/** Topics that a version names and the cluster does not have. */
export const missingTopics = (topology: number, number: number): Promise<readonly MissingTopic[]> =>
  answer(
    api.GET(
      "/api/topologies/{topology}/versions/{number}/missing-topics",
      versionAt(topology, number),
    ),
  );

export const createTopics = (workspace: string, topics: readonly NewTopic[]) =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics", {
      params: { path: { workspace } },
      body: { topics: [...topics] },
    }),
  );

// -- Deployments -----------------------------------------------------------------------------------

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

export const deleteDeployment = (deployment: number) =>
  api.DELETE("/api/deployments/{deployment}", deploymentAt(deployment));

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

/** The last records over an edge, newest first; the driver keeps them while somebody asks. */
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
export const listPlacements = (
  deployment: number,
  range: Figures["range"],
  search: string,
  page: number,
  size: number,
): Promise<PlacementPage> =>
  answer(
    api.GET("/api/deployments/{deployment}/placements", {
      params: { path: { deployment }, query: { range, search, page, page_size: size } },
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
