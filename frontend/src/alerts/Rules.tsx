import { Button } from "@mantine/core";
import IconPlus from "@tabler/icons-react/dist/esm/icons/IconPlus.mjs";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteAlertRule, listAlertRules, testAlertRule } from "../api/alertCalls";
import type { AlertRule, TestedReceiver } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { Empty, Note } from "../ui";
import { Confirm } from "../ui/Confirm";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import classes from "./alerts.module.css";
import { ruleText } from "./conditions";
import { RuleDialog } from "./RuleDialog";

/** The alert rules of a workspace, which operators can change. */
export function Rules({ ws, operator }: { ws: string; operator: boolean }) {
  const queries = useQueryClient();
  const key = ["alert-rules", ws];
  const paging = usePages(key, (query) => listAlertRules(ws, query));
  const [edited, setEdited] = useState<AlertRule | "new" | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const remove = useMutation({
    mutationFn: deleteAlertRule,
    onSettled: refresh,
    onError: (error) => notifyError(error, t("Rule not deleted")),
  });
  const test = useMutation({
    mutationFn: (rule: AlertRule) => testAlertRule(rule.id),
    onError: (error) => notifyError(error, t("Test not sent")),
  });
  return (
    <>
      <ListFrame
        title={t("Rules")}
        paging={paging}
        search={t("Search rules")}
        actions={
          operator ? (
            <Button
              variant="filled"
              leftSection={<IconPlus size={16} stroke={1.5} />}
              onClick={() => setEdited("new")}
              data-testid="new-rule"
            >
              {t("New rule")}
            </Button>
          ) : null
        }
        notes={test.data === undefined ? null : <Tested receivers={test.data} />}
        none={t("No rule matches “{search}”.", { search: paging.text })}
        empty={
          <Empty title={t("No rules")}>
            {t({
              id: "alerts.rule_defines_when_alert",
              message:
                "A rule defines when an alert fires, for one topology or all, and who is notified.",
            })}
          </Empty>
        }
        testId="alert-rules"
      >
        {(rules) => (
          <CardTable
            head={[t("Name"), t("Condition"), t("Topology"), t("Notifies"), ""]}
            className={classes.rules}
          >
            {rules.map((rule) => (
              <tr key={rule.id} data-testid="alert-rule">
                <td className={pages.text}>
                  {rule.name}
                  {rule.enabled ? null : <span className={pages.faint}> {t("(off)")}</span>}
                </td>
                <td className={pages.text}>{ruleText(rule)}</td>
                <td>{rule.topology_name ?? <span className={pages.faint}>{t("all")}</span>}</td>
                <td className={pages.text}>
                  <Receivers rule={rule} />
                </td>
                <td className={pages.actions}>
                  {operator ? (
                    <>
                      <Button
                        variant="subtle"
                        disabled={rule.webhook === "" && rule.mail.length === 0}
                        loading={test.isPending && test.variables.id === rule.id}
                        onClick={() => test.mutate(rule)}
                      >
                        {t("Send a test")}
                      </Button>
                      <Button variant="subtle" onClick={() => setEdited(rule)}>
                        {t("Edit")}
                      </Button>
                      <Confirm
                        title={t("Delete…")}
                        question={t("The rule “{name}” and its alerts are deleted.", {
                          name: rule.name,
                        })}
                        action={t("Delete the rule")}
                        busy={remove.isPending && remove.variables === rule.id}
                        onConfirm={() => remove.mutate(rule.id)}
                        testId="delete-rule"
                      />
                    </>
                  ) : null}
                </td>
              </tr>
            ))}
          </CardTable>
        )}
      </ListFrame>
      {edited === null ? null : (
        <RuleDialog
          ws={ws}
          rule={edited === "new" ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            void refresh();
          }}
        />
      )}
    </>
  );
}

function Receivers({ rule }: { rule: AlertRule }) {
  const { webhook } = rule;
  const host = webhook === "" ? [] : [URL.canParse(webhook) ? new URL(webhook).host : webhook];
  const all = [...host, ...rule.mail];
  if (all.length === 0) return <span className={pages.faint}>{t("this page only")}</span>;
  return <span title={[rule.webhook, ...rule.mail].join("\n")}>{all.join(", ")}</span>;
}

function Tested({ receivers }: { receivers: readonly TestedReceiver[] }) {
  const failed = receivers.some((each) => each.error !== null);
  return (
    <div style={{ marginBottom: 10 }} data-testid="tested">
      <Note tone={failed ? "failed" : "running"}>
        <ul className={classes.results}>
          {receivers.map((each) => (
            <li key={`${each.channel} ${each.target}`}>
              {each.error === null
                ? t("{target}: the test was accepted.", { target: each.target })
                : t("{target}: {error}", { target: each.target, error: each.error })}
            </li>
          ))}
        </ul>
      </Note>
    </div>
  );
}
