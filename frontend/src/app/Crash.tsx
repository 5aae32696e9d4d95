import { Button } from "@mantine/core";
import { useEffect } from "react";
import { useRouteError } from "react-router";
import { t } from "../ui/i18n";
import { whenReachable } from "../ui/reach";
import classes from "./app.module.css";

const RELOADED = "millrace.reloaded";

/** After an update the old page requests files that are gone; a reload loads the new one. */
function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error && /dynamically imported module|Importing a module/.test(error.message)
  );
}

/** Error boundary of the page: reports the crash, and that nothing drawn is lost. */
export function Crash() {
  const error = useRouteError();
  const missing = isMissingPart(error);
  useEffect(() => {
    if (!missing || sessionStorage.getItem(RELOADED) === location.href) return;
    // A reload while the server is away would leave the browser's own error page.
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
