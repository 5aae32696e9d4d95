/** The API's operations on the fragments of a workspace. */

import { answer, api } from "./client";
import { body } from "./topologyCalls";
import type { Fragment, FragmentUser, TopologyDocument } from "./types";

export const listFragments = async (
  workspace: string,
  search?: string,
): Promise<readonly Fragment[]> => {
  const query = { page_size: 200, ordering: "name", ...(search ? { search } : {}) } as const;
  const page = await answer(
    api.GET("/api/workspaces/{workspace}/fragments", { params: { path: { workspace }, query } }),
  );
  return page.results;
};

export const createFragment = async (
  workspace: string,
  name: string,
  document: TopologyDocument,
): Promise<number> => {
  const made = await answer(
    api.POST("/api/workspaces/{workspace}/topologies", {
      params: { path: { workspace } },
      body: { name, description: "", fragment: true, document: body(document) },
    }),
  );
  return made.id;
};

export const usersOfFragment = (topology: number): Promise<readonly FragmentUser[]> =>
  answer(api.GET("/api/topologies/{topology}/users", { params: { path: { topology } } }));
