import { Button, Progress, Select } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { describeCause } from "../api/prose";
import {
  cancelComparison,
  compareOutputs,
  createShadow,
  endShadow,
  getShadow,
} from "../api/shadowCalls";
import { listVersions } from "../api/topologyCalls";
import type { Deployment, Shadow, ShadowStart } from "../api/types";
import { Failed } from "../frame/Failed";
import { Loading } from "../frame/Loading";
import { notifyError } from "../frame/notify";
import { StatePill } from "../live/StatePill";
import { useLive } from "../live/store";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { ago, exact } from "../ui/format";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import { ConfirmName } from "./ConfirmName";
import { redeployWithPlan } from "./change";
import change from "./change.module.css";
import { ShadowResult } from "./ShadowResult";
import { openShadow } from "./steps";

const LOOK_MS = 1_500;

/** Starts another version beside the running one on the same records, and compares their outputs. */
export function ShadowDialog() {
  const deployment = useLive((state) => state.deployment);
  return deployment === null ? null : <Opened deployment={deployment} />;
}

function Opened({ deployment }: { deployment: Deployment }) {
  const found = useQuery({
    queryKey: ["shadow", deployment.id],
    queryFn: () => getShadow(deployment.id),
    refetchInterval: LOOK_MS,
  });
  return (
    <Modal
      opened
      onClose={() => openShadow(false)}
      title={t("Compare with another version")}
      size={760}
    >
      <div className={change.body} data-testid="shadow">
        {found.isPending ? <Loading /> : null}
        {found.isError ? (
          <Failed error={found.error} retry={() => void found.refetch()} />
        ) : found.data === undefined ? null : found.data === null ? (
          <Begin deployment={deployment} />
        ) : (
          <Running deployment={deployment} shadow={found.data} />
        )}
      </div>
    </Modal>
  );
}

/** The action of the dialog that is in progress. The shadow is fetched again afterwards. */
function useActing(deployment: number) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<string | null>(null);
  const run = async (name: string, action: () => Promise<unknown>) => {
    setBusy(name);
    try {
      await action();
      await queries.invalidateQueries({ queryKey: ["shadow", deployment] });
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(null);
    }
  };
  return { busy, run };
}

function Begin({ deployment }: { deployment: Deployment }) {
  const [version, setVersion] = useState<string | null>(null);
  const [start, setStart] = useState<ShadowStart>("running");
  const { busy, run } = useActing(deployment.id);
  const versions = useQuery({
    queryKey: ["versions", deployment.topology],
    queryFn: () => listVersions(deployment.topology),
  });
  return (
    <>
      <p>
        {t(
          {
            id: "deployments.version_processes_same_records",
            message:
              "The version processes the same records as version {n}, and writes to topics of its own. Version {n} is not changed.",
          },
          { n: deployment.version },
        )}
      </p>
      <Select
        label={t("Version")}
        description={
          versions.data?.length === 1
            ? t("There is only one version. Save another one first.")
            : null
        }
        value={version}
        onChange={setVersion}
        data={(versions.data ?? []).map((each) => ({
          value: String(each.number),
          label: `${t("v{n}", { n: each.number })}${each.name ? ` · ${each.name}` : ""}`,
        }))}
        comboboxProps={{ withinPortal: false }}
        data-testid="shadow-version"
      />
      <Select
        label={t("Start with")}
        description={
          start === "running"
            ? t("State that cannot be carried over makes the start fail.")
            : t({
                id: "deployments.takes_longer_outputs_of_records",
                message:
                  "Takes longer. Outputs of records up to the current offsets are not compared.",
              })
        }
        value={start}
        onChange={(value) => setStart((value ?? "running") as ShadowStart)}
        data={[
          { value: "running", label: t("A copy of the current state, at the current offsets") },
          { value: "earliest", label: t("Empty stores, at the first records") },
        ]}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data-testid="shadow-start"
      />
      <DialogEnd
        onCancel={() => openShadow(false)}
        disabled={version === null}
        loading={busy !== null}
        onClick={() =>
          void run("create", () => createShadow(deployment.id, Number(version), start))
        }
        data-testid="shadow-create"
      >
        {t("Run beside v{n}", { n: deployment.version })}
      </DialogEnd>
    </>
  );
}

function Running({ deployment, shadow }: { deployment: Deployment; shadow: Shadow }) {
  const { busy, run } = useActing(deployment.id);
  const [ending, setEnding] = useState(false);
  const comparison = shadow.comparison;
  const compares = comparison?.state === "reading" || comparison?.state === "matching";
  const { failure, outage, version } = shadow.deployment;
  const open = async () => {
    openShadow(false);
    try {
      const data = await redeployWithPlan(deployment.id, version, null, { always: true });
      if (data === null) return;
      useLive.getState().receive({ type: "deployment.changed", data });
      openShadow(true);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <>
      <div className={change.state}>
        <StatePill state={shadow.deployment.observed} version={version} waiting={outage !== null} />
        <span data-testid="shadow-reached">
          {shadow.ending
            ? t("It is being stopped and deleted.")
            : shadow.reached_at === null
              ? t("It has not reached the offsets of version {n} yet.", { n: deployment.version })
              : t("It reached the offsets of version {n} ({time}).", {
                  n: deployment.version,
                  time: ago(shadow.reached_at),
                })}
        </span>
      </div>
      <p className={change.quiet}>
        {t("Its output topics end with {suffix}.", { suffix: shadow.suffix })}
      </p>
      {failure === null ? null : <Note tone="failed">{describeCause(failure)}</Note>}
      {outage === null ? null : <Note tone="degraded">{describeCause(outage)}</Note>}
      {compares && comparison !== null ? (
        <div data-testid="shadow-progress">
          <Progress
            value={comparison.total === 0 ? 0 : (100 * comparison.read) / comparison.total}
          />
          <p className={change.quiet}>
            {comparison.state === "reading"
              ? t("{n} of {m} records read", {
                  n: exact(comparison.read),
                  m: exact(comparison.total),
                })
              : t("Matching the records by key")}
          </p>
        </div>
      ) : null}
      {comparison === null || compares ? null : <ShadowResult comparison={comparison} />}
      {ending ? (
        <ConfirmName
          label={t({
            id: "deployments.type_name_of_topology",
            message: "Type the name of the topology to delete the shadow with its state and topics",
          })}
          action={t("End and delete")}
          busy={busy === "end"}
          onConfirm={(name) =>
            void run("end", async () => {
              await endShadow(deployment.id, name);
              setEnding(false);
            })
          }
          onCancel={() => setEnding(false)}
        />
      ) : (
        <div className="ui-end">
          <Button disabled={shadow.ending} onClick={() => setEnding(true)} data-testid="shadow-end">
            {t("End…")}
          </Button>
          {version === deployment.version ? null : (
            <Button
              disabled={shadow.ending}
              onClick={() => void open()}
              data-testid="shadow-switch"
            >
              {t("Switch to v{n}…", { n: version })}
            </Button>
          )}
          {compares ? (
            <Button
              loading={busy === "cancel"}
              onClick={() => void run("cancel", () => cancelComparison(deployment.id))}
              data-testid="shadow-cancel"
            >
              {t("Cancel the comparison")}
            </Button>
          ) : (
            <Button
              variant="filled"
              disabled={shadow.reached_at === null || shadow.ending}
              loading={busy === "compare"}
              onClick={() => void run("compare", () => compareOutputs(deployment.id))}
              data-testid="shadow-compare"
            >
              {t("Compare outputs")}
            </Button>
          )}
        </div>
      )}
    </>
  );
}
