import { isPlain } from "./dialect";
import { useLive } from "./store";

/** Whether the open topology's deployment runs plain PySpark. */
export function useRunsPlain(): boolean {
  return useLive((state) => isPlain(state.deployment?.settings));
}
