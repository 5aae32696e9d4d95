import { Switch } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRules, setRules } from "../api/accountCalls";
import type { WorkspaceRulesChange } from "../api/types";
import { Head } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { Waiting } from "../frame/Waiting";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

/** Conditions that a version must meet before it is deployed. */
export function Rules({ ws, admin }: { ws: string; admin: boolean }) {
  const queries = useQueryClient();
  const key = ["rules", ws];
  const rules = useQuery({ queryKey: key, queryFn: () => getRules(ws) });
  const { data } = rules;
  const change = useMutation({
    mutationFn: (wanted: WorkspaceRulesChange) => setRules(ws, wanted),
    onSuccess: (changed) => queries.setQueryData(key, changed),
    onError: (error) => notifyError(error),
  });
  const disabled = !admin || data === undefined || change.isPending;
  return (
    <section className={classes.section}>
      <Head
        title={t("Deployments")}
        about={t({
          id: "pages.rules_for_all_members",
          message:
            "Rules for all members of this workspace. Changes do not affect running deployments.",
        })}
      />
      {rules.isError && data === undefined ? (
        <Waiting query={rules} />
      ) : (
        <div className={classes.form}>
          <Switch
            label={t({
              id: "pages.deploy_version_only_if_all",
              message: "Deploy a version only if all tests of its topology have passed with it",
            })}
            checked={data?.tests_required ?? false}
            disabled={disabled}
            onChange={(event) => change.mutate({ tests_required: event.currentTarget.checked })}
            data-testid="tests-required"
          />
          <Switch
            label={t({
              id: "pages.deploy_version_only_if_operator",
              message: "Deploy a version only if an operator who is not its author has approved it",
            })}
            checked={data?.approval_required ?? false}
            disabled={disabled}
            onChange={(event) => change.mutate({ approval_required: event.currentTarget.checked })}
            data-testid="approval-required"
          />
        </div>
      )}
    </section>
  );
}
