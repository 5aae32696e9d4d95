import type { AuditEntryPage, PageQuery } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { usePages } from "../frame/paging";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { actionText, factsText, subjectText } from "./auditTexts";

const ROWS = 10;

/** Who did what, newest first: in a workspace, or in the installation. */
export function Audit(props: {
  of: readonly string[];
  list: (query: PageQuery) => Promise<AuditEntryPage>;
  about: string;
}) {
  const paging = usePages(props.of, props.list, { size: ROWS });
  return (
    <ListFrame
      title={t("Audit log")}
      about={props.about}
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
