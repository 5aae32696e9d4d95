import { NumberInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getSettingsPlan, scaleDeployment } from "../api/deploymentCalls";
import type { Deployment } from "../api/types";
import { notifyError } from "../frame/notify";
import { useLive } from "../live/store";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import change from "./change.module.css";
import classes from "./deployments.module.css";
import { HandoverNote } from "./HandoverNote";
import { openScale } from "./steps";

/** Changes threads and memory of a running deployment, after showing the consequences. */
export function ScaleDialog() {
  const deployment = useLive((state) => state.deployment);
  return deployment === null ? null : <Scale deployment={deployment} />;
}

function Scale({ deployment }: { deployment: Deployment }) {
  const { settings, version } = deployment;
  const [wanted, setWanted] = useState({
    cores: settings.cores ?? 2,
    memory_mb: settings.memory_mb ?? 1024,
  });
  const [busy, setBusy] = useState(false);
  const plan = useQuery({
    queryKey: ["scale", deployment.id, version, wanted],
    queryFn: () => getSettingsPlan(deployment.id, version, { ...settings, ...wanted }),
    placeholderData: (before) => before,
    retry: false,
  });
  const changed = wanted.cores !== settings.cores || wanted.memory_mb !== settings.memory_mb;
  const scale = async () => {
    setBusy(true);
    try {
      const data = await scaleDeployment(deployment.id, wanted);
      useLive.getState().receive({ type: "deployment.changed", data });
      openScale(false);
    } catch (error) {
      notifyError(error, t("Could not scale"));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={() => openScale(false)} title={t("Threads and memory")}>
      <div className={change.body} data-testid="scale">
        <div className={classes.pair}>
          <NumberInput
            label={t("Cores")}
            min={1}
            max={64}
            value={wanted.cores}
            onChange={(value) => setWanted({ ...wanted, cores: Number(value) || 1 })}
          />
          <NumberInput
            label={t("Memory, MB")}
            min={512}
            max={65536}
            step={256}
            value={wanted.memory_mb}
            onChange={(value) => setWanted({ ...wanted, memory_mb: Number(value) || 1024 })}
          />
        </div>
        {settings.real_time_ms === undefined ? null : (
          <p>
            {t({
              id: "deployments.in_real_time_each",
              message:
                "In real time each task has its own thread, regardless of the number of cores.",
            })}
          </p>
        )}
        {plan.data === undefined ? null : <HandoverNote plan={plan.data} />}
        <p>
          {t({
            id: "deployments.all_stores_are_kept",
            message: "All stores are kept, and it continues at its current position.",
          })}
        </p>
        <DialogEnd
          onCancel={() => openScale(false)}
          disabled={!changed}
          loading={busy}
          onClick={() => void scale()}
          data-testid="scale-accept"
        >
          {t("Apply")}
        </DialogEnd>
      </div>
    </Modal>
  );
}
