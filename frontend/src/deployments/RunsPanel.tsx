import { useQuery } from "@tanstack/react-query";
import { listOldState, listRuns } from "../api/calls";
import type { OldState, RunRecord } from "../api/types";
import { Failed } from "../app/Failed";
import { Loading } from "../app/Loading";
import { t } from "../app/phrases";
import { known, millis, UNKNOWN } from "../runtime/figures";
import { useLive } from "../runtime/store";
import { Empty } from "../ui";
import { ago, bytes, moment, span } from "../ui/format";
import { DeploymentSteps } from "./DeploymentSteps";
import classes from "./deployments.module.css";

/** The deployment's last steps beside the history of its runs. */
export function RunsPanel() {
  const deployment = useLive((state) => state.deployment);
  const id = deployment?.id ?? null;
  const runs = useQuery({
    // Refetched when a run begins or ends.
    queryKey: ["runs", id, deployment?.run?.id ?? null, deployment?.observed],
    queryFn: () => listRuns(id ?? 0),
    enabled: id !== null,
    placeholderData: (before) => before,
  });
  const old = useQuery({
    queryKey: ["old-state", id, deployment?.run?.id ?? null, deployment?.observed],
    queryFn: () => listOldState(id ?? 0),
    enabled: id !== null,
    placeholderData: (before) => before,
  });
  if (deployment === null) {
    return (
      <Empty title={t("Never deployed")}>
        {t("Each run is listed here with its start, its end and the reason it ended.")}
      </Empty>
    );
  }
  return (
    <div className={`${classes.runsPanel} m-scroll`}>
      <div className={classes.runsSteps}>
        <h3 className={classes.small}>{t("Last deployment")}</h3>
        <DeploymentSteps deployment={deployment} />
      </div>
      <div className={classes.runsList}>
        {runs.isPending ? <Loading /> : null}
        {runs.isError ? <Failed error={runs.error} retry={() => void runs.refetch()} /> : null}
        {runs.data === undefined ? null : <Runs runs={runs.data} />}
        {old.data === undefined || old.data.length === 0 ? null : <Kept states={old.data} />}
      </div>
    </div>
  );
}

/** State of before the last moves and resets. */
function Kept({ states }: { states: readonly OldState[] }) {
  return (
    <table className={classes.table} data-testid="old-state">
      <thead>
        <tr>
          <th>{t("State kept from before")}</th>
          <th>{t("Size")}</th>
          <th>{t("Deleted after")}</th>
        </tr>
      </thead>
      <tbody>
        {states.map((each) => (
          <tr key={each.left_at}>
            <td title={moment(each.left_at)}>{ago(each.left_at)}</td>
            <td>{bytes(each.bytes)}</td>
            <td>{moment(each.deleted_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Runs({ runs }: { runs: readonly RunRecord[] }) {
  if (runs.length === 0) return <Empty title={t("No run yet")} />;
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th>{t("Started")}</th>
          <th>{t("Version")}</th>
          <th>{t("Driver")}</th>
          <th>{t("Duration")}</th>
          <th>{t("End")}</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => {
          const from = millis(run.started_at);
          const to = millis(run.ended_at);
          return (
            <tr key={run.id}>
              <td title={from === null ? undefined : moment(from)}>
                {known(from, (at) => ago(at))}
              </td>
              <td>{known(run.version, (n) => t("v{n}", { n }))}</td>
              <td className="m-mono">{known(run.pid, String)}</td>
              <td>{from === null || to === null ? UNKNOWN : span(to - from)}</td>
              <td>{to === null ? t("running") : (run.outcome ?? UNKNOWN)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
