import { useQuery } from "@tanstack/react-query";
import { listOldState, listRuns, threadsLink } from "../api/deploymentCalls";
import type { RunRecord } from "../api/types";
import { Waiting } from "../frame/Waiting";
import { known, millis, UNKNOWN } from "../live/figures";
import { NeverDeployed } from "../live/NeverDeployed";
import { useLive } from "../live/store";
import { Empty } from "../ui";
import { ago, moment, span } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Decisions } from "./Decisions";
import { DeploymentSteps } from "./DeploymentSteps";
import classes from "./deployments.module.css";
import { OldStates } from "./OldStates";

/** The deployment's last steps beside the history of its runs. */
export function RunsPanel({ operator }: { operator: boolean }) {
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
    // Old state is recorded shortly after a run has started.
    refetchInterval: 10_000,
    enabled: id !== null,
    placeholderData: (before) => before,
  });
  if (deployment === null) {
    return (
      <NeverDeployed>
        {t({
          id: "deployments.each_run_is_listed",
          message: "Each run is listed here with its start, its end and the reason it ended.",
        })}
      </NeverDeployed>
    );
  }
  return (
    <div className={`${classes.runsPanel} m-scroll`}>
      <div className={classes.runsSteps}>
        <h3 className={classes.small}>{t("Last deployment")}</h3>
        <DeploymentSteps deployment={deployment} />
      </div>
      <div className={classes.runsList}>
        <Waiting query={runs} />
        {runs.data === undefined ? null : <Runs deployment={deployment.id} runs={runs.data} />}
        {deployment.record_decisions.length === 0 ? null : (
          <Decisions
            deployment={deployment.id}
            decisions={deployment.record_decisions}
            operator={operator}
          />
        )}
        {old.data === undefined || old.data.length === 0 ? null : (
          <OldStates deployment={deployment.id} states={old.data} operator={operator} />
        )}
      </div>
    </div>
  );
}

/** How a run ended. */
const OUTCOMES: Readonly<Record<NonNullable<RunRecord["outcome"]>, Phrase>> = {
  stopped: phrase("stopped"),
  crashed: phrase("crashed"),
  failed: phrase("failed"),
  killed: phrase("killed"),
  outage: phrase("outage"),
};

function Runs({ deployment, runs }: { deployment: number; runs: readonly RunRecord[] }) {
  if (runs.length === 0) return <Empty title={t("No runs yet")} />;
  return (
    <table className={`ui-table ${classes.table}`}>
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
              <td className={classes.end}>
                {run.standby ? `${t("took over as the standby")} · ` : null}
                {to === null ? t("running") : known(run.outcome, (outcome) => t(OUTCOMES[outcome]))}
                {run.threads ? (
                  <>
                    {" · "}
                    <a
                      href={threadsLink(deployment, run.id)}
                      target="_blank"
                      rel="noreferrer"
                      className={classes.link}
                      data-testid="threads"
                    >
                      {t("thread dump")}
                    </a>
                  </>
                ) : null}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
