import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteOldState } from "../api/deploymentCalls";
import type { OldState } from "../api/types";
import { ActionsHead } from "../frame/ActionsHead";
import { notifyError } from "../frame/notify";
import { useNow } from "../live/useNow";
import { ago, bytes, moment } from "../ui/format";
import { t } from "../ui/i18n";
import { ConfirmName } from "./ConfirmName";
import classes from "./deployments.module.css";

/** State from before the last moves and resets, which is kept until a person deletes it. */
export function OldStates(props: {
  deployment: number;
  states: readonly OldState[];
  operator: boolean;
}) {
  return (
    <section className={classes.oldStates}>
      <h3 className={classes.small}>{t("Old state")}</h3>
      <table className={`ui-table ${classes.table}`} data-testid="old-state">
        <thead>
          <tr>
            <th>{t("Replaced")}</th>
            <th>{t("Version")}</th>
            <th>{t("Size")}</th>
            <th>{t("Expires")}</th>
            {props.operator ? <ActionsHead /> : null}
          </tr>
        </thead>
        <tbody>
          {props.states.map((each) => (
            <tr key={each.name}>
              <td title={moment(each.left_at)}>{ago(each.left_at)}</td>
              <td>{each.version === null ? "–" : t("v{n}", { n: each.version })}</td>
              <td>{bytes(each.bytes)}</td>
              <td>{each.deleted_at === null ? t("never") : moment(each.deleted_at)}</td>
              {props.operator ? (
                <td>
                  <Delete deployment={props.deployment} state={each} />
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Deletes old state after its name was typed. The server refuses this during the first day. */
function Delete({ deployment, state }: { deployment: number; state: OldState }) {
  const [asked, setAsked] = useState(false);
  const now = useNow(60_000);
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteOldState(deployment, state.name),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["old-state", deployment] }),
    onError: (error) => notifyError(error),
    onSettled: () => setAsked(false),
  });
  const young = Date.parse(state.deletable_at) > now;
  if (!asked) {
    return (
      <Button
        variant="subtle"
        size="compact-sm"
        disabled={young}
        title={
          young
            ? t("Kept for one day for a rollback, until {time}.", {
                time: moment(state.deletable_at),
              })
            : undefined
        }
        onClick={() => setAsked(true)}
      >
        {t("Delete…")}
      </Button>
    );
  }
  return (
    <ConfirmName
      label={t("Type the name of the topology to delete this state")}
      action={t("Delete permanently")}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={() => setAsked(false)}
    />
  );
}
