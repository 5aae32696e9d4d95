import IconCheck from "@tabler/icons-react/dist/esm/icons/IconCheck.mjs";
import IconCircle from "@tabler/icons-react/dist/esm/icons/IconCircle.mjs";
import IconLoader2 from "@tabler/icons-react/dist/esm/icons/IconLoader2.mjs";
import IconMinus from "@tabler/icons-react/dist/esm/icons/IconMinus.mjs";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { describeCause } from "../api/prose";
import type { Deployment, DeploymentStep } from "../api/types";
import { known } from "../live/figures";
import { useNow } from "../live/useNow";
import { span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import classes from "./deployments.module.css";
import { lengthOf } from "./steps";

const TITLES: Record<string, Phrase> = {
  compile: phrase("Compile"),
  compiling: phrase("Compile"),
  check: phrase("Check topics"),
  checking: phrase("Check topics"),
  stage: phrase("Stage the job"),
  staging: phrase("Stage the job"),
  start: phrase("Start the driver"),
  starting: phrase("Start the driver"),
  running: phrase("Run"),
};

function titleOf(name: string): string {
  const title = TITLES[name];
  return title === undefined ? name : t(title);
}

function Sign({ state }: { state: DeploymentStep["state"] }) {
  if (state === "done") return <IconCheck size={16} stroke={2} className={classes.done} />;
  if (state === "failed") return <IconX size={16} stroke={2} className={classes.failedSign} />;
  if (state === "running") return <IconLoader2 size={16} stroke={2} className={classes.busy} />;
  if (state === "skipped") return <IconMinus size={16} stroke={1.5} className={classes.waiting} />;
  return <IconCircle size={16} stroke={1.5} className={classes.waiting} />;
}

/** Marks steps as skipped that did not run again, such as after a crash, when the staged job is restarted. */
function leftOut(steps: readonly DeploymentStep[]): readonly DeploymentStep[] {
  const last = steps.findLastIndex((step) => step.state !== "waiting");
  return steps.map((step, index) =>
    step.state === "waiting" && index < last ? { ...step, state: "skipped" } : step,
  );
}

/** The steps, none of which is running any more if the deployment failed or was stopped. */
function ended(deployment: Deployment): readonly DeploymentStep[] {
  const { observed, since } = deployment;
  const steps = leftOut(deployment.steps);
  if (observed !== "failed" && observed !== "stopped") return steps;
  return steps.map((step) =>
    step.state === "running"
      ? { ...step, state: observed === "failed" ? "failed" : "skipped", finished_at: since }
      : step,
  );
}

/** Compile, check, stage, start: each with its duration, which counts up while it runs. */
export function DeploymentSteps({ deployment }: { deployment: Deployment }) {
  const steps = ended(deployment);
  const busy = steps.some((step) => step.state === "running");
  const now = useNow(busy ? 100 : null);
  return (
    <ol className={classes.steps} data-testid="deployment-steps">
      {steps.map((step) => (
        <li key={step.name} className={classes.step} data-state={step.state}>
          <Sign state={step.state} />
          <span className={classes.stepTitle}>
            {titleOf(step.name)}
            {step.detail === null ? null : (
              <span className={classes.stepDetail}>{describeCause(step.detail)}</span>
            )}
          </span>
          <span className={classes.stepTime}>{known(lengthOf(step, now), span)}</span>
        </li>
      ))}
    </ol>
  );
}
