import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../api/client";
import { formatTypes } from "../api/topicCalls";
import { needsSchema, type Target } from "./recipe";

/** The target with the types that its schemas give; `problem`: why they cannot be had. */
export function useTypes<T extends Target | undefined>(ws: string, target: T) {
  const { key, value } = target ?? {};
  const found = useQuery({
    queryKey: ["format-types", ws, key, value],
    queryFn: () =>
      key === undefined || value === undefined ? null : formatTypes(ws, { key, value }),
    enabled: key !== undefined && value !== undefined && [key, value].some(needsSchema),
    retry: false,
    staleTime: 60_000,
  });
  const typed = target !== undefined && found.data ? { ...target, types: found.data } : target;
  return { target: typed, problem: found.error === null ? null : asApiError(found.error).text };
}
