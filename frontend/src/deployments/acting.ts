/** What is done to the open topology's deployment. */

import { actOnDeployment, createDeployment, type DeploymentAction } from "../api/deploymentCalls";
import type { Deployment, DeploymentSettings, StartRequest } from "../api/types";
import { useLive } from "../runtime/store";
import { proposedMessage, saveVersion, useEditing } from "../versions/editing";
import { redeployWithPlan } from "./change";

/** How long a click waits for the first word of the server, in ms. */
const SNAPSHOT_MS = 10_000;

/**
 * Deploys the drawing: saved first if it has changes, then started, or put in place of the version that runs.
 * `start` says where a deployment begins that ran before (null: where it stopped). `ask` gets the version before it is deployed and may refuse. Null if it did, if saving met a conflict, or if the plan
 * of the change was not accepted.
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

/** The deployment of the topology, once the server has responded; a click may come before that. */
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
