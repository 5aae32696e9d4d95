/** The API's operations on comments. */

import { answer, api } from "../api/client";
import type { Comment, MentionPage, PageQuery } from "../api/types";

const at = (topology: number) => ({ params: { path: { topology } } });
const commentAt = (topology: number, comment: number) => ({
  params: { path: { topology, comment } },
});

/** The newest threads, also those on deleted nodes. */
export const listComments = async (topology: number): Promise<readonly Comment[]> => {
  const page = await answer(
    api.GET("/api/topologies/{topology}/comments", {
      params: { path: { topology }, query: { page_size: 200 } },
    }),
  );
  return page.results;
};

export const addComment = (
  topology: number,
  comment: { node: string; node_label: string; text: string; reply_to: number | null },
): Promise<Comment> =>
  answer(api.POST("/api/topologies/{topology}/comments", { ...at(topology), body: comment }));

export const changeComment = (
  topology: number,
  comment: number,
  change: { text?: string; resolved?: boolean },
): Promise<Comment> =>
  answer(
    api.PATCH("/api/topologies/{topology}/comments/{comment}", {
      ...commentAt(topology, comment),
      body: change,
    }),
  );

export const deleteComment = (topology: number, comment: number) =>
  api.DELETE("/api/topologies/{topology}/comments/{comment}", commentAt(topology, comment));

/** Open comments that mention the signed-in person. */
export const listMentions = (workspace: string, query: PageQuery): Promise<MentionPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/mentions", { params: { path: { workspace }, query } }),
  );
