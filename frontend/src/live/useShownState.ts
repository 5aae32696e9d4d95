import { useEffect, useState } from "react";
import type { Observed } from "../api/types";
import { useLive } from "./store";

/** Milliseconds without a connection after which the state of the deployment counts as unknown. */
const LOST_AFTER = 4_000;

/** The deployment's state as the server reported it, or unknown if the connection has been lost for a while. */
export function useShownState(): Observed | null {
  const deployment = useLive((state) => state.deployment);
  const connection = useLive((state) => state.connection);
  const [silent, setSilent] = useState(false);
  useEffect(() => {
    setSilent(false);
    if (connection === "open") return;
    const timer = setTimeout(() => setSilent(true), LOST_AFTER);
    return () => clearTimeout(timer);
  }, [connection]);
  if (deployment === null) return null;
  return silent && deployment.observed !== "stopped" ? "unknown" : deployment.observed;
}
