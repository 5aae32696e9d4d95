import { Popover, UnstyledButton } from "@mantine/core";
import IconMissed from "@tabler/icons-react/dist/esm/icons/IconCalendarExclamation.mjs";
import { Suspense, useRef } from "react";
import { StatePill } from "../live/StatePill";
import { versionOf } from "../live/states";
import { useLive } from "../live/store";
import { useShownState } from "../live/useShownState";
import { t } from "../ui/i18n";
import { later } from "../ui/later";
import { useEscape } from "../ui/useEscape";
import classes from "./deployments.module.css";
import { hideSteps, showSteps, useSteps } from "./steps";

const DeploymentCard = later(async () => (await import("./DeploymentCard")).DeploymentCard);

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
          data-testid="deployment-pill"
        >
          <span className="m-hidden">{t("Deployment")}</span>
          <StatePill
            state={state}
            version={versionOf(deployment)}
            waiting={deployment.outage !== null}
          />
          {deployment.schedule?.failure == null ? null : (
            <IconMissed
              size={16}
              stroke={1.5}
              className={classes.missed}
              role="img"
              aria-label={t("The schedule could not be applied")}
              data-testid="schedule-missed"
            />
          )}
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
