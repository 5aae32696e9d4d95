import { Popover, UnstyledButton } from "@mantine/core";
import { Suspense, useEffect, useRef, useState } from "react";
import type { Observed } from "../api/types";
import { useLive } from "../runtime/store";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { useEscape } from "../ui/useEscape";
import classes from "./deployments.module.css";
import { StatePill } from "./StatePill";
import { hideSteps, showSteps, useSteps } from "./steps";

const DeploymentCard = later(async () => (await import("./DeploymentCard")).DeploymentCard);

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

/** The deployment's state in the top bar; a click opens its steps, run and actions. */
export function DeploymentPill({ operator }: { operator: boolean }) {
  const deployment = useLive((state) => state.deployment);
  const state = useShownState();
  const { opened } = useSteps();
  const button = useRef<HTMLButtonElement>(null);
  useEscape(opened, hideSteps, button);
  if (deployment === null || state === null) return null;
  return (
    <Popover
      opened={opened}
      onChange={(next) => (next ? showSteps() : hideSteps())}
      position="bottom-start"
      width={460}
      closeOnEscape={false}
      clickOutsideEvents={["pointerdown"]}
    >
      <Popover.Target>
        <UnstyledButton
          ref={button}
          className={classes.pill}
          onClick={() => (opened ? hideSteps() : showSteps())}
          aria-expanded={opened}
          aria-label={t("Deployment")}
          data-testid="deployment-pill"
        >
          <StatePill
            state={state}
            version={deployment.version}
            waiting={deployment.outage !== null}
          />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown className={classes.card}>
        <Suspense fallback={null}>
          <DeploymentCard deployment={deployment} state={state} operator={operator} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
