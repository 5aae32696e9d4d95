/** Open comments on the nodes of the canvas. */

import { create } from "zustand";

interface CommentsState {
  /** The number of open threads by node. */
  readonly open: Readonly<Record<string, number>>;
}

export const useComments = create<CommentsState>()(() => ({ open: {} }));
