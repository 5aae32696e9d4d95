/** The API's operations, one function each. */

import type { Catalogue } from "../graph/catalogue";
import { call, send } from "./client";
import type {
  CompileResult,
  Deployment,
  DeploymentSettings,
  Draft,
  LogPage,
  Member,
  Page,
  Role,
  RunRecord,
  RuntimeSnapshot,
  Session,
  Token,
  TopologyDocument,
  TopologySummary,
  Version,
  VersionSummary,
} from "./types";

const at = (strings: TemplateStringsArray, ...values: (string | number)[]): string =>
  String.raw(strings, ...values.map((value) => encodeURIComponent(value)));

/** Lists may come paged or whole: both are read as a plain list. */
async function list<T>(path: string, query: Record<string, string | number> = {}): Promise<T[]> {
  const found = await call<T[] | Page<T>>("GET", path, { query });
  return Array.isArray(found) ? found : found.results;
}

// -- Session ---------------------------------------------------------------------------------------

export const getSession = () => call<Session>("GET", "/api/session");
export const signIn = (username: string, password: string) =>
  call<Session>("POST", "/api/session", { body: { username, password } });
export const signInByLink = (token: string) =>
  call<Session>("POST", "/api/session/link", { body: { token } });
export const signOut = () => call<void>("DELETE", "/api/session");

export const listTokens = () => list<Token>("/api/tokens");
export const createToken = (name: string) =>
  call<Token & { token: string }>("POST", "/api/tokens", { body: { name } });
export const deleteToken = (id: number | string) => call<void>("DELETE", at`/api/tokens/${id}`);

// -- Workspaces ------------------------------------------------------------------------------------

export const getCatalogue = () => call<Catalogue>("GET", "/api/catalog");

export const listMembers = (ws: string) => list<Member>(at`/api/workspaces/${ws}/members`);
export const addMember = (ws: string, member: Record<string, string>) =>
  call<Member>("POST", at`/api/workspaces/${ws}/members`, { body: member });
export const changeMember = (ws: string, id: number, role: Role) =>
  call<Member>("PATCH", at`/api/workspaces/${ws}/members/${id}`, { body: { role } });
export const removeMember = (ws: string, id: number) =>
  call<void>("DELETE", at`/api/workspaces/${ws}/members/${id}`);

export const listTopics = (ws: string) =>
  list<{ name: string; partitions: number }>(at`/api/workspaces/${ws}/topics`);

export const compileDocument = (
  ws: string,
  document: TopologyDocument,
  revision: number,
  signal?: AbortSignal,
) =>
  call<CompileResult>("POST", at`/api/workspaces/${ws}/compile`, {
    body: { document, revision },
    ...(signal === undefined ? {} : { signal }),
  });

// -- Topologies ------------------------------------------------------------------------------------

export interface TopologyQuery {
  search?: string;
  ordering?: string;
  page?: number;
  page_size?: number;
}

export const listTopologies = (ws: string, query: TopologyQuery) =>
  call<Page<TopologySummary>>("GET", at`/api/workspaces/${ws}/topologies`, { query: { ...query } });
export const createTopology = (
  ws: string,
  topology: { name: string; document?: TopologyDocument; template?: string },
) => call<TopologySummary>("POST", at`/api/workspaces/${ws}/topologies`, { body: topology });
export const getTopology = (id: number) => call<TopologySummary>("GET", at`/api/topologies/${id}`);
export const changeTopology = (id: number, change: { name?: string; description?: string }) =>
  call<TopologySummary>("PATCH", at`/api/topologies/${id}`, { body: change });
export const deleteTopology = (id: number) => call<void>("DELETE", at`/api/topologies/${id}`);

export const getDraft = (id: number) => call<Draft>("GET", at`/api/topologies/${id}/draft`);
export const putDraft = (id: number, draft: Pick<Draft, "document" | "base_version">) =>
  call<Draft>("PUT", at`/api/topologies/${id}/draft`, { body: draft });
export const discardDraft = (id: number) => call<void>("DELETE", at`/api/topologies/${id}/draft`);

export const listVersions = (id: number) =>
  list<VersionSummary>(at`/api/topologies/${id}/versions`, { page_size: 100 });
export const getVersion = (id: number, number: number) =>
  call<Version>("GET", at`/api/topologies/${id}/versions/${number}`);
export const createVersion = (
  id: number,
  version: { document: TopologyDocument; message: string; base_version: number | null },
) => call<Version>("POST", at`/api/topologies/${id}/versions`, { body: version });

export const exportPath = (id: number, number: number) =>
  at`/api/topologies/${id}/versions/${number}/export`;

export async function downloadExport(id: number, number: number): Promise<Blob> {
  return (await send("GET", exportPath(id, number))).blob();
}

// -- Deployments -----------------------------------------------------------------------------------

export const createDeployment = (
  ws: string,
  deployment: { topology: number; version: number; target: string; settings: DeploymentSettings },
) => call<Deployment>("POST", at`/api/workspaces/${ws}/deployments`, { body: deployment });
export const getDeployment = (id: number) => call<Deployment>("GET", at`/api/deployments/${id}`);
export const actOnDeployment = (id: number, action: "start" | "stop" | "restart") =>
  call<Deployment>("POST", at`/api/deployments/${id}/${action}`);
export const redeploy = (id: number, version: number, settings: DeploymentSettings | null) =>
  call<Deployment>("POST", at`/api/deployments/${id}/redeploy`, {
    body: settings === null ? { version } : { version, settings },
  });
export const deleteDeployment = (id: number) => call<void>("DELETE", at`/api/deployments/${id}`);
export const listRuns = (id: number) => list<RunRecord>(at`/api/deployments/${id}/runs`);
export const getRuntime = (id: number) =>
  call<RuntimeSnapshot>("GET", at`/api/deployments/${id}/runtime`);

export interface LogQuery {
  after?: string;
  node?: string;
  level?: string;
  search?: string;
}

export const getLogs = (id: number, query: LogQuery) =>
  call<LogPage>("GET", at`/api/deployments/${id}/logs`, { query: { ...query } });
