import { useQuery } from "@tanstack/react-query";
import { listStores } from "../api/deploymentCalls";
import { isPlain } from "../live/dialect";
import { useLive } from "../live/store";

/** The stores of the open topology's deployment, fetched again when its version or state changes. */
export function useStores() {
  const deployment = useLive((state) => state.deployment);
  const id = deployment?.id ?? null;
  return useQuery({
    queryKey: ["stores", id, deployment?.run?.id ?? null, deployment?.observed],
    queryFn: () => listStores(id ?? 0),
    enabled: id !== null && !isPlain(deployment?.settings),
    placeholderData: (before) => before,
  });
}
