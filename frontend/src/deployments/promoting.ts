/** Promotion of a deployment's version to another environment. */

import { getPromotion, promote } from "../api/deploymentCalls";
import type { Deployment, DeploymentSettings } from "../api/types";
import { useDesigner } from "../designer/store";
import { notifyError } from "../frame/notify";
import type { Environment } from "../graph/parameters";
import { useLive } from "../live/store";
import { t } from "../ui/i18n";
import { sendAccepted } from "./change";
import { type Proposal, usePromoting } from "./steps";
import { noneMissing } from "./topics";

/** Shows what a promotion changes; it happens once a person accepts. `onKnown` is called before that is shown. */
export async function beginPromotion(
  source: Deployment,
  environment: Environment,
  onKnown?: () => void,
): Promise<void> {
  try {
    const promotion = await getPromotion(source.id, environment);
    onKnown?.();
    const { plan } = promotion;
    if (plan === null) usePromoting.setState({ proposal: { source, promotion } });
    else {
      const runs = promotion.desired === "running";
      await whenTopicsExist({ source, promotion }, promotion.settings, async () => {
        const asked = { plan, promotion: { environment, runs } };
        arrived(
          await sendAccepted(asked, ({ decisions }) =>
            promote(source.id, environment, { stores: decisions }),
          ),
        );
      });
    }
  } catch (error) {
    notifyError(error, t("Could not promote"));
  }
}

/** Creates the deployment of a proposal. */
export async function acceptProposal(
  proposal: Proposal,
  settings: DeploymentSettings,
): Promise<void> {
  const { source, promotion } = proposal;
  await whenTopicsExist(proposal, settings, async () => {
    arrived(await promote(source.id, promotion.environment, { settings }));
  });
}

/** Continues now, or after a person has had the missing topics created. */
async function whenTopicsExist(
  { source, promotion }: Proposal,
  settings: DeploymentSettings,
  then: () => Promise<void>,
): Promise<void> {
  if (await noneMissing(source.topology, promotion.version, settings, then)) await then();
}

function arrived(deployment: Deployment | null): void {
  if (deployment === null) return;
  const live = useLive.getState();
  live.receive({ type: "deployment.changed", data: deployment });
  live.show(deployment.id);
  useDesigner.getState().setLayer("runtime");
}
