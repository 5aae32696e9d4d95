import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../api/client";
import { formatTypes } from "../api/topicCalls";
import { type Format, hasSchema, needsSchema, type Target } from "./recipe";

/** Milliseconds without a key press after which a typed schema is sent to the server. */
const TYPING_MS = 300;

/** The target with the types from its schemas; `problem` says why they are not available. */
export function useTypes<T extends Target | undefined>(ws: string, target: T) {
  const now = JSON.stringify(target === undefined ? [] : [target.key, target.value]);
  const [text] = useDebouncedValue(now, TYPING_MS);
  const formats = JSON.parse(text) as [] | [key: Format, value: Format];
  const found = useQuery({
    queryKey: ["format-types", ws, text],
    queryFn: () => {
      const [key, value] = formats;
      return key === undefined || value === undefined ? null : formatTypes(ws, { key, value });
    },
    enabled: formats.some(needsSchema) && formats.every(hasSchema),
    retry: false,
    staleTime: 60_000,
  });
  const known = text === now ? found.data : undefined;
  const typed = target !== undefined && known ? { ...target, types: known } : target;
  return { target: typed, problem: found.error === null ? null : asApiError(found.error).text };
}
