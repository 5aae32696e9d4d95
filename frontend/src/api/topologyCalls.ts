/** The API's operations on topologies, their versions and templates. */

import type { Catalog } from "../graph/catalog";
import type { components } from "../schema";
import { answer, api } from "./client";
import type {
  Draft,
  NewTopology,
  Program,
  ProgramRead,
  Template,
  TopologyDocument,
  TopologyPage,
  TopologyQuery,
  TopologySummary,
  Tried,
  Version,
  VersionSummary,
} from "./types";

/** Casts the page's read-only document to the mutable type that the generated client requires. */
export function body(document: TopologyDocument): components["schemas"]["DocumentRequest"] {
  return document as unknown as components["schemas"]["DocumentRequest"];
}

export const getCatalog = (): Promise<Catalog> =>
  answer(api.GET("/api/catalog")) as Promise<Catalog>;

export const sampleInputs = (
  topology: number,
): Promise<{ readonly inputs: readonly Record<string, unknown>[] }> =>
  answer(api.GET("/api/topologies/{topology}/sample-inputs", { params: { path: { topology } } }));

export const listTemplates = (): Promise<readonly Template[]> => answer(api.GET("/api/templates"));

/** Creates a template's topology, with its topics and generators and with a title in that language. */
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

export const listTopologies = (workspace: string, query: TopologyQuery): Promise<TopologyPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topologies", {
      params: { path: { workspace }, query },
    }),
  );

/** Runs a Python program on the server and returns its document or its problem. A reading of this page ends the earlier one of its `run`. */
export const readProgram = (workspace: string, program: Program): Promise<ProgramRead> =>
  answer(
    api.POST("/api/workspaces/{workspace}/programs", {
      params: { path: { workspace } },
      body: program,
    }),
  );

export const createTopology = (workspace: string, made: NewTopology): Promise<TopologySummary> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topologies", {
      params: { path: { workspace } },
      body: {
        name: made.name,
        description: made.description ?? "",
        fragment: false,
        ...(made.document === undefined ? {} : { document: body(made.document) }),
        ...(made.template === undefined ? {} : { template: made.template }),
      },
    }),
  );

const topologyAt = (topology: number) => ({ params: { path: { topology } } });

export const versionAt = (topology: number, number: number) => ({
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

/** Reports which node this person edits, or none, so that others see it. */
export const sendPresence = (topology: number, node: string | null) =>
  api.PUT("/api/topologies/{topology}/presence", { ...topologyAt(topology), body: { node } });

export const sendCursor = (topology: number, at: readonly [number, number] | null) =>
  api.PUT("/api/topologies/{topology}/cursor", {
    ...topologyAt(topology),
    body: { at: at === null ? null : [...at] },
  });

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

/** Approves a version, or withdraws one's own approval. */
export const approveVersion = (
  topology: number,
  number: number,
  approved: boolean,
): Promise<VersionSummary> => {
  const path = "/api/topologies/{topology}/versions/{number}/approval";
  const version = versionAt(topology, number);
  return answer(approved ? api.POST(path, version) : api.DELETE(path, version));
};

/** A zip file with the job of a version. */
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
