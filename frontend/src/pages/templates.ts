import { useQuery } from "@tanstack/react-query";
import { listTemplates } from "../api/calls";
import type { Template } from "../api/types";

/** Documents that a new topology can start from. */
export function useTemplates(): readonly Template[] {
  const { data } = useQuery({
    queryKey: ["templates"],
    queryFn: listTemplates,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? [];
}
