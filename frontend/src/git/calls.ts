/** The API's operations on the git repository of a workspace. */

import { answer, api } from "../api/client";
import { body } from "../api/topologyCalls";
import type {
  NewRepository,
  OutsideChange,
  OutsideChangeDetail,
  RepositoryState,
  TopologyDocument,
} from "../api/types";

const at = (workspace: string) => ({ params: { path: { workspace } } });

export const getRepository = (workspace: string): Promise<RepositoryState> =>
  answer(api.GET("/api/workspaces/{workspace}/repository", at(workspace)));

export const bindRepository = (
  workspace: string,
  repository: NewRepository,
): Promise<RepositoryState> =>
  answer(api.PUT("/api/workspaces/{workspace}/repository", { ...at(workspace), body: repository }));

export const unbindRepository = (workspace: string) =>
  api.DELETE("/api/workspaces/{workspace}/repository", at(workspace));

/** Requests that a worker pulls, and pushes the versions that wait. */
export const syncRepository = (
  workspace: string,
  acceptHistory: boolean,
): Promise<RepositoryState> =>
  answer(
    api.POST("/api/workspaces/{workspace}/repository/sync", {
      ...at(workspace),
      body: { accept_history: acceptHistory },
    }),
  );

export const listChanges = (workspace: string): Promise<readonly OutsideChange[]> =>
  answer(api.GET("/api/workspaces/{workspace}/repository/changes", at(workspace)));

const changeAt = (workspace: string, folder: string) => ({
  params: { path: { workspace, folder } },
});

export const getChange = (workspace: string, folder: string): Promise<OutsideChangeDetail> =>
  answer(
    api.GET("/api/workspaces/{workspace}/repository/changes/{folder}", changeAt(workspace, folder)),
  ) as Promise<unknown> as Promise<OutsideChangeDetail>;

/** Takes a change in, as it was seen; `document` is the result of a decision between both sides. */
export const takeChange = (
  workspace: string,
  seen: OutsideChange,
  document: TopologyDocument | null,
) =>
  answer(
    api.POST("/api/workspaces/{workspace}/repository/changes/{folder}", {
      ...changeAt(workspace, seen.folder),
      body: {
        commit: seen.commit,
        base_version: seen.latest_version,
        ...(document === null ? {} : { document: body(document) }),
      },
    }),
  );
