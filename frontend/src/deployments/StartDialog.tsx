import { useState } from "react";
import { notifyError } from "../frame/notify";
import { isPlain } from "../live/dialect";
import { useLive } from "../live/store";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { BeginningFields } from "./BeginningFields";
import { type Beginning, CONTINUES, requestOf } from "./beginning";
import { redeployWithPlan } from "./change";
import classes from "./change.module.css";
import { openStart } from "./steps";

/** Chooses where the deployed version starts. Its plan is shown before anything starts. */
export function StartDialog() {
  const deployment = useLive((state) => state.deployment);
  const plain = isPlain(deployment?.settings);
  const [beginning, setBeginning] = useState<Beginning>({
    ...CONTINUES,
    position: "earliest",
    resets: plain,
  });
  const request = requestOf(beginning);
  if (deployment === null) return null;
  const start = async () => {
    openStart(false);
    try {
      const data = await redeployWithPlan(deployment.id, deployment.version, null, {
        start: request,
      });
      if (data !== null) useLive.getState().receive({ type: "deployment.changed", data });
    } catch (error) {
      notifyError(error, t("Could not start"));
    }
  };
  return (
    <Modal
      opened
      onClose={() => openStart(false)}
      title={t("Start version {n}", { n: deployment.version })}
    >
      <div className={classes.body}>
        <BeginningFields value={beginning} plain={plain} onChange={setBeginning} />
        <DialogEnd
          onCancel={() => openStart(false)}
          disabled={request === null}
          onClick={() => void start()}
          data-testid="start-plan"
        >
          {t("Show the plan")}
        </DialogEnd>
      </div>
    </Modal>
  );
}
