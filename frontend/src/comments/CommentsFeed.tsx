import { useEffect } from "react";
import { useComments } from "../designer/comments";
import { useThreads } from "./useThreads";

/** Keeps the numbers of open comments on the canvas; shows nothing itself. */
export function CommentsFeed({ topology }: { topology: number }) {
  const { data } = useThreads(topology);
  useEffect(() => {
    const open: Record<string, number> = {};
    for (const thread of data ?? []) {
      if (thread.resolved_at === null) open[thread.node] = (open[thread.node] ?? 0) + 1;
    }
    useComments.setState({ open });
  }, [data]);
  useEffect(() => () => useComments.setState({ open: {} }), []);
  return null;
}
