import { useState } from "react";
import { Link, useParams } from "react-router";
import { listAlerts } from "../api/alertCalls";
import type { Alert, AlertQuery } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { usePages } from "../frame/paging";
import { Shell } from "../frame/Shell";
import { may, useWorkspace } from "../frame/session";
import { useTitle } from "../frame/useTitle";
import { Empty, Segments, StateDot } from "../ui";
import { ago, moment, span } from "../ui/format";
import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";
import classes from "./alerts.module.css";
import { amount, ruleText } from "./conditions";
import { Rules } from "./Rules";

type Shown = NonNullable<AlertQuery["state"]> | "all";

/** The alerts of a workspace that fire or have fired, and its rules. */
export function AlertsPage() {
  const { ws = "" } = useParams();
  const workspace = useWorkspace(ws);
  useTitle(t("Alerts"));
  return (
    <Shell ws={ws} wide>
      <Alerts ws={ws} />
      <Rules ws={ws} operator={may(workspace?.role, "operator")} />
    </Shell>
  );
}

function Alerts({ ws }: { ws: string }) {
  const [shown, setShown] = useState<Shown>("all");
  const paging = usePages(
    ["alerts", ws, shown],
    (query) => listAlerts(ws, shown === "all" ? query : { ...query, state: shown }),
    { refetchInterval: 5_000 },
  );
  return (
    <ListFrame
      title={t("Alerts")}
      level={1}
      paging={paging}
      search={t("Search alerts")}
      actions={
        <Segments<Shown>
          label={t("State")}
          value={shown}
          onChange={(next) => {
            setShown(next);
            paging.setPage(1);
          }}
          items={[
            { id: "all", title: t("All") },
            { id: "firing", title: t("Firing") },
            { id: "resolved", title: t("Resolved") },
          ]}
        />
      }
      none={t("No alert matches “{search}”.", { search: paging.text })}
      empty={
        <Empty title={shown === "firing" ? t("No alerts are firing") : t("No alerts")}>
          {t({
            id: "alerts.alert_is_listed_here",
            message:
              "An alert is listed here once the condition of a rule has been true for its duration.",
          })}
        </Empty>
      }
      testId="alerts"
    >
      {(alerts) => <List ws={ws} alerts={alerts} />}
    </ListFrame>
  );
}

function List({ alerts, ws }: { alerts: readonly Alert[]; ws: string }) {
  return (
    <CardTable
      head={[
        t("State"),
        t("Rule"),
        t("Topology"),
        t("Last value"),
        t("Since"),
        t("Duration"),
        t("Notifications"),
      ]}
      className={classes.alerts}
    >
      {alerts.map((alert) => (
        <tr key={alert.id} data-testid="alert" data-state={alert.state}>
          <td>
            <span className={classes.state}>
              <StateDot state={alert.state === "firing" ? "failed" : "stopped"} />
              {alert.state === "firing" ? t("Firing") : t("Resolved")}
            </span>
          </td>
          <td className={pages.text}>
            {alert.name}
            <div className={pages.faint}>{ruleText(alert)}</div>
          </td>
          <td>
            <Link
              to={`/w/${ws}/t/${alert.topology}?layer=runtime&deployment=${alert.deployment}`}
              className={pages.link}
            >
              {alert.topology_name}
            </Link>
            {alert.environment === null ? null : (
              <span className={pages.faint}> · {alert.environment}</span>
            )}
          </td>
          <td>{alert.value === null ? "–" : amount(alert.condition, alert.value)}</td>
          <td title={moment(alert.since)}>{ago(alert.since)}</td>
          <td>{duration(alert)}</td>
          <td className={pages.text}>
            <Sent alert={alert} />
          </td>
        </tr>
      ))}
    </CardTable>
  );
}

function duration(alert: Alert): string {
  const end = alert.resolved_at === null ? Date.now() : Date.parse(alert.resolved_at);
  return span(Math.max(0, end - Date.parse(alert.since)));
}

/** The number of notifications sent, and why the others were not. */
function Sent({ alert }: { alert: Alert }) {
  const { deliveries } = alert;
  if (deliveries.length === 0) return <span className={pages.faint}>{t("none")}</span>;
  const sent = deliveries.filter((each) => each.state === "sent").length;
  const errors = deliveries.filter((each) => each.error !== "");
  const counted = t("{sent} of {n} sent", { sent, n: deliveries.length });
  if (errors.length === 0) return <span>{counted}</span>;
  // Retries and both events of an alert often fail for the same reason.
  const reasons = [...new Set(errors.map((each) => each.error))];
  return (
    <span
      className={classes.faulty}
      title={errors.map((each) => `${each.target}: ${each.error}`).join("\n")}
    >
      {t("{counted}: {reason}", { counted, reason: reasons.join(" ") })}
    </span>
  );
}
