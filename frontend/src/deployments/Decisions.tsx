import { useMutation } from "@tanstack/react-query";
import { removeDecision } from "../api/deploymentCalls";
import type { Deployment } from "../api/types";
import { notifyError } from "../frame/notify";
import { useLive } from "../live/store";
import { Confirm } from "../ui/Confirm";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "./deployments.module.css";

type Decided = Deployment["record_decisions"][number];

/** Records at which the deployment failed and the decisions about them, newest first. */
export function Decisions(props: {
  deployment: number;
  decisions: readonly Decided[];
  operator: boolean;
}) {
  const { decisions, deployment, operator } = props;
  return (
    <table className={`ui-table ${classes.table}`} data-testid="record-decisions">
      <thead>
        <tr>
          <th>{t("Failed record")}</th>
          <th>{t("Decided")}</th>
          <th>{t("By")}</th>
          <th>{t("When")}</th>
          <th />
        </tr>
      </thead>
      <tbody>
        {decisions.toReversed().map((each) => (
          <tr key={`${each.topic}-${each.partition}-${each.offset}-${each.at}`}>
            <td className="m-mono">
              {each.topic}-{each.partition} · {t("offset {n}", { n: each.offset })}
            </td>
            <td>{each.decision === "skip" ? t("Skipped once") : t("Sent to the dead letters")}</td>
            <td>{each.by}</td>
            <td title={moment(each.at)}>{ago(each.at)}</td>
            <td>
              {each.removed_by !== undefined ? (
                <span title={each.removed_at === undefined ? undefined : moment(each.removed_at)}>
                  {t("Removed by {name}", { name: each.removed_by })}
                </span>
              ) : each.active && operator ? (
                <Remove deployment={deployment} decided={each} />
              ) : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Removes a decision. The server refuses this once the deployment has read past the record. */
function Remove({ decided, deployment }: { decided: Decided; deployment: number }) {
  const remove = useMutation({
    mutationFn: () => removeDecision(deployment, decided),
    onSuccess: (data) => useLive.getState().receive({ type: "deployment.changed", data }),
    onError: (error) => notifyError(error),
  });
  return (
    <Confirm
      title={t("Remove…")}
      question={t({
        id: "deployments.if_record_was_not",
        message: "If the record was not reached yet, the next start fails at it again.",
      })}
      action={t("Remove the decision")}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
      testId="remove-decision"
    />
  );
}
