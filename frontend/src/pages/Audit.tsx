import { listAudit } from "../api/accountCalls";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { usePages } from "../frame/paging";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { actionText, factsText, subjectText } from "./auditTexts";

const ROWS = 10;

/** Who did what in the workspace, newest first. */
export function Audit({ ws }: { ws: string }) {
  const paging = usePages(["audit", ws], (query) => listAudit(ws, query), { size: ROWS });
  return (
    <ListFrame
      title={t("Audit log")}
      about={t("Who did what in this workspace, newest first.")}
      paging={paging}
      search={t("Search the audit log")}
      searches={t("Search by person or action")}
      none={t("No entry matches “{search}”.", { search: paging.text })}
      testId="audit"
    >
      {(entries) => (
        <CardTable head={[t("What"), t("By"), t("When"), t("Address")]} className={classes.audit}>
          {entries.map((entry) => (
            <tr key={entry.id} data-testid="audit-entry">
              <td title={[entry.action, factsText(entry)].filter(Boolean).join("\n")}>
                <div className={classes.facts}>
                  <span className={classes.rowName}>{actionText(entry)}</span>
                  <span>{subjectText(entry)}</span>
                  <span className={classes.rowNote}>{factsText(entry)}</span>
                </div>
              </td>
              <td>{entry.actor || <span className={classes.faint}>Millrace</span>}</td>
              <td title={moment(entry.at)}>{ago(entry.at)}</td>
              <td className={classes.faint}>{entry.address || "–"}</td>
            </tr>
          ))}
        </CardTable>
      )}
    </ListFrame>
  );
}
