import type { UseQueryResult } from "@tanstack/react-query";
import { type Back, Failed } from "./Failed";
import { Loading } from "./Loading";

/** Replaces a query's result while it loads or if it failed; with `kept`, an earlier result stays visible. */
export function Waiting(props: { query: UseQueryResult; kept?: boolean; gone?: Back }) {
  const { gone, kept = false, query } = props;
  if (query.isPending) return <Loading />;
  if (!query.isError || kept) return null;
  return <Failed error={query.error} retry={() => void query.refetch()} gone={gone} />;
}
