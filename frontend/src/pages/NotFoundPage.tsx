import { Button } from "@mantine/core";
import { Link } from "react-router";
import classes from "../frame/frame.module.css";
import { t } from "../ui/i18n";

export function NotFoundPage() {
  return (
    <main className={classes.failed} style={{ minHeight: "100vh" }}>
      <h1 className={classes.failedTitle}>{t("There is no page at this address.")}</h1>
      <p className={classes.failedHint}>
        {t("It may have been deleted, or the link was cut short.")}
      </p>
      <Button size="xs" variant="default" component={Link} to="/">
        {t("Go to the topologies")}
      </Button>
    </main>
  );
}
