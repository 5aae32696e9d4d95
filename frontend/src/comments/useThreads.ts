import { useQuery } from "@tanstack/react-query";
import { useLive } from "../live/store";
import { listComments } from "./calls";

/** The comments of a topology, fetched again after each change by anyone. */
export function useThreads(topology: number) {
  const changes = useLive((state) => state.comments);
  const connection = useLive((state) => state.connection);
  return useQuery({
    queryKey: ["comments", topology, changes, connection === "open"],
    queryFn: () => listComments(topology),
    placeholderData: (before) => before,
  });
}
