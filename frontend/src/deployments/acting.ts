/** Actions on the open topology's deployment. */

import { actOnDeployment, createDeployment, type DeploymentAction } from "../api/deploymentCalls";
import type { Deployment, DeploymentSettings, StartRequest } from "../api/types";
import { useLive } from "../live/store";
import { proposedMessage, saveVersion, useEditing } from "../versions/editing";
import { redeployWithPlan } from "./change";

/** How long an action waits for the first snapshot from the server, in ms. */
const SNAPSHOT_MS = 10_000;

/**
 * Deploys the document, saving it first if it has changes, and replaces the running version if there is one. `start`
 * is where an existing deployment starts (null: where it stopped). `ask` gets the version and may refuse. Null if `ask`
 * refused, if saving met a conflict, or if the person rejected the plan.
 */
export async function deployDrawing(
  settings: DeploymentSettings | null,
  ask: (topology: number, version: number) => Promise<boolean>,
  start: StartRequest | null = null,
): Promise<Deployment | null> {
  const before = useEditing.getState();
  if (before.topology === null) return null;
  useEditing.setState({ deploying: true });
  try {
    let version = before.baseVersion;
    if (before.changed || version === null) {
      version = (await saveVersion(proposedMessage()))?.number ?? null;
      if (version === null) return null;
    }
    if (!(await ask(before.topology, version))) return null;
    const current = await knownDeployment();
    const deployment =
      current === null
        ? await createDeployment(before.ws, {
            topology: before.topology,
            version,
            settings: settings ?? {},
          })
        : await redeployWithPlan(current.id, version, settings, { start });
    if (deployment === null) return null;
    useLive.getState().receive({ type: "deployment.changed", data: deployment });
    return deployment;
  } finally {
    useEditing.setState({ deploying: false });
  }
}

/** The topology's deployment, awaited if an action comes before the first snapshot. */
export async function knownDeployment(): Promise<Deployment | null> {
  if (useLive.getState().topology === null) {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, SNAPSHOT_MS);
      const stop = useLive.subscribe(({ topology }) => {
        if (topology !== null) done();
      });
    });
  }
  return useLive.getState().deployment;
}

export async function act(action: DeploymentAction): Promise<void> {
  const { deployment } = useLive.getState();
  if (deployment === null) return;
  const data = await actOnDeployment(deployment.id, action);
  useLive.getState().receive({ type: "deployment.changed", data });
}
