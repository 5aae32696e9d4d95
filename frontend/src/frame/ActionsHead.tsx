import { t } from "../ui/i18n";
import pages from "../ui/pages.module.css";

/** The head of a column of buttons, for screen readers. */
export function ActionsHead() {
  return (
    <th className={pages.actions}>
      <span className="m-hidden">{t("Actions")}</span>
    </th>
  );
}
