import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useRouteError } from "react-router";
import classes from "../frame/frame.module.css";
import { t } from "../ui/i18n";
import { whenReachable } from "../ui/reach";

const RELOADED = "millrace.reloaded";

/** After an update, the old page requests chunks that no longer exist; a reload loads the new page. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error && /dynamically imported module|Importing a module/.test(error.message)
  );
}

/** Error boundary of the page: shows the crash and that the drawing is not lost. */
export function Crash() {
  const error = useRouteError();
  const missing = isMissingPart(error);
  useEffect(() => {
    if (!missing || sessionStorage.getItem(RELOADED) === location.href) return;
    // A reload while the server is unreachable would end on the browser's own error page.
    void whenReachable().then(() => {
      sessionStorage.setItem(RELOADED, location.href);
      location.reload();
    });
  }, [missing]);
  return (
    <div className={classes.failed} role="alert">
      <p className={classes.failedTitle}>{t("Something went wrong on this page.")}</p>
      <p className={classes.failedHint}>
        {t("Your draft is saved on the server. Reload the page to continue.")}
      </p>
      <code className={classes.crashText}>
        {error instanceof Error ? error.message : String(error)}
      </code>
      <Button size="xs" onClick={() => location.reload()}>
        {t("Reload")}
      </Button>
    </div>
  );
}
