import type { UseQueryResult } from "@tanstack/react-query";
import { Failed } from "./Failed";
import { Loading } from "./Loading";

/** Replaces a query's result while it loads or if it failed; with `kept`, an earlier result stays visible. */
export function Waiting({ kept = false, query }: { query: UseQueryResult; kept?: boolean }) {
  if (query.isPending) return <Loading />;
  if (!query.isError || kept) return null;
  return <Failed error={query.error} retry={() => void query.refetch()} />;
}
