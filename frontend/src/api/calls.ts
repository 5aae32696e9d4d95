/** The API's operations, one function each. */

import type { Catalogue } from "../graph/catalogue";
import { answer, api } from "./client";
import type { components } from "./schema";
import type {
  AddedMember,
  CompileResult,
  CreatedToken,
  Deployment,
  DeploymentSettings,
  Draft,
  LogPage,
  Member,
  NewMember,
  Role,
  RunRecord,
  Session,
  Template,
  Token,
  TopologyDocument,
  TopologyPage,
  TopologySummary,
  Version,
  VersionSummary,
} from "./types";

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

export const listTokens = (): Promise<readonly Token[]> => answer(api.GET("/api/tokens"));

export const createToken = (name: string, days: number): Promise<CreatedToken> =>
  answer(api.POST("/api/tokens", { body: { name, days } }));

export const deleteToken = (token: number) =>
  api.DELETE("/api/tokens/{token}", { params: { path: { token } } });

// -- Workspaces ------------------------------------------------------------------------------------

export const getCatalogue = (): Promise<Catalogue> =>
  answer(api.GET("/api/catalog")) as Promise<unknown> as Promise<Catalogue>;

export const listTemplates = (): Promise<readonly Template[]> => answer(api.GET("/api/templates"));

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

export const listTopics = (workspace: string) =>
  answer(api.GET("/api/workspaces/{workspace}/topics", { params: { path: { workspace } } }));

export const compileDocument = (
  workspace: string,
  document: TopologyDocument,
  revision: number,
  signal?: AbortSignal,
): Promise<CompileResult> =>
  answer(
    api.POST("/api/workspaces/{workspace}/compile", {
      params: { path: { workspace } },
      body: { document: body(document), revision },
      ...(signal === undefined ? {} : { signal }),
    }),
  ) as Promise<unknown> as Promise<CompileResult>;

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

export const putDraft = (topology: number, draft: Pick<Draft, "document" | "base_version">) =>
  api.PUT("/api/topologies/{topology}/draft", {
    ...topologyAt(topology),
    body: { document: body(draft.document), base_version: draft.base_version },
  });

export const discardDraft = (topology: number) =>
  api.DELETE("/api/topologies/{topology}/draft", topologyAt(topology));

/** The person in this page edits a node (or none): the others see it. */
export const tellPresence = (topology: number, node: string | null) =>
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
  version: { document: TopologyDocument; message: string; base_version: number | null },
): Promise<Version> =>
  answer(
    api.POST("/api/topologies/{topology}/versions", {
      ...topologyAt(topology),
      body: { ...version, document: body(version.document) },
    }),
  ) as Promise<unknown> as Promise<Version>;

/** The zip with the job of a version. */
export const downloadExport = (topology: number, number: number): Promise<Blob> =>
  answer(
    api.GET("/api/topologies/{topology}/versions/{number}/export", {
      ...versionAt(topology, number),
      parseAs: "blob",
    }),
  ) as Promise<unknown> as Promise<Blob>;

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

export const actOnDeployment = (
  deployment: number,
  action: "start" | "stop" | "restart",
): Promise<Deployment> =>
  answer(api.POST(`/api/deployments/{deployment}/${action}`, deploymentAt(deployment)));

export const redeploy = (
  deployment: number,
  version: number,
  settings: DeploymentSettings | null,
): Promise<Deployment> =>
  answer(
    api.POST("/api/deployments/{deployment}/redeploy", {
      ...deploymentAt(deployment),
      body: settings === null ? { version } : { version, settings },
    }),
  );

export const deleteDeployment = (deployment: number) =>
  api.DELETE("/api/deployments/{deployment}", deploymentAt(deployment));

export const listRuns = async (deployment: number): Promise<readonly RunRecord[]> =>
  (await answer(api.GET("/api/deployments/{deployment}/runs", deploymentAt(deployment)))).results;

export const getLogs = (deployment: number): Promise<LogPage> =>
  answer(api.GET("/api/deployments/{deployment}/logs", deploymentAt(deployment)));
