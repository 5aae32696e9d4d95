import { useQuery } from "@tanstack/react-query";
import { listAlerts } from "../api/alertCalls";

/** The number of firing alerts in the workspace; null while unknown. */
export function useFiring(ws: string | undefined): number | null {
  const found = useQuery({
    queryKey: ["alerts", ws, "count"],
    queryFn: () => listAlerts(ws ?? "", { state: "firing", page_size: 1 }),
    enabled: ws !== undefined,
    refetchInterval: 15_000,
    retry: false,
  });
  return found.data?.count ?? null;
}
