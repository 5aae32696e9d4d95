import { Button } from "@mantine/core";
import { useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import type { DeploymentSettings } from "../api/types";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { CONTINUES } from "./beginning";
import { ApprovalNote, approved, TestsNote, tested, Values } from "./ChangeDialog";
import { DeployOptions } from "./DeployOptions";
import { environmentOf, nameOf } from "./environments";
import classes from "./environments.module.css";
import { placeProblem } from "./place";
import { acceptProposal } from "./promoting";
import { type Proposal, usePromoting } from "./steps";

/** Shows the deployment that a promotion creates: the values of its parameters, and its options. */
export function PromoteDialog({ proposal }: { proposal: Proposal }) {
  const { source, promotion } = proposal;
  const { environment, parameters, version } = promotion;
  const [values, setValues] = useState<DeploymentSettings>(promotion.settings);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [changing, setChanging] = useState(placeProblem(promotion.settings) !== null);
  const close = () => usePromoting.setState({ proposal: null });
  const accept = async () => {
    setBusy(true);
    setError(null);
    try {
      await acceptProposal(proposal, values);
      close();
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      title={t("Promote version {n} to {environment}", { n: version, environment })}
      size={520}
    >
      <div className={classes.body} data-testid="promotion">
        <p>
          {t({
            id: "deployments.new_deployment_is_created",
            message:
              "A new deployment is created. It starts with empty stores, and the deployment that you promote continues.",
          })}
        </p>
        <ApprovalNote plan={promotion} />
        <TestsNote plan={promotion} onLeave={close} />
        <Values
          plan={{ environments: { old: environmentOf(source), new: environment }, parameters }}
        />
        {changing ? (
          <DeployOptions
            values={values}
            fresh
            runsPlain={false}
            onChange={setValues}
            beginning={CONTINUES}
            onBeginning={() => undefined}
            fixed
          />
        ) : (
          <p className={classes.same}>
            {t("Its options are those of {environment}.", {
              environment: nameOf(environmentOf(source)),
            })}
            <Button
              variant="subtle"
              px={8}
              onClick={() => setChanging(true)}
              data-testid="promote-options"
            >
              {t("Change options…")}
            </Button>
          </p>
        )}
        {error === null ? null : <Note tone="failed">{error.text}</Note>}
        <DialogEnd
          onCancel={close}
          loading={busy}
          disabled={!approved(promotion) || !tested(promotion) || placeProblem(values) !== null}
          onClick={() => void accept()}
          data-testid="promote-accept"
        >
          {t("Deploy v{n} in {environment}", { n: version, environment })}
        </DialogEnd>
      </div>
    </Modal>
  );
}
