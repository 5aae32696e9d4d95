import type { UseQueryResult } from "@tanstack/react-query";
import { Failed } from "./Failed";
import { Loading } from "./Loading";

/** What stands in place of the answer of a query; `kept`: an earlier answer is shown, whatever happens. */
export function Waiting({ kept = false, query }: { query: UseQueryResult; kept?: boolean }) {
  if (query.isPending) return <Loading />;
  if (!query.isError || kept) return null;
  return <Failed error={query.error} retry={() => void query.refetch()} />;
}
