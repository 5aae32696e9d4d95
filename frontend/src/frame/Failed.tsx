import { Button } from "@mantine/core";
import IconMapOff from "@tabler/icons-react/dist/esm/icons/IconMapOff.mjs";
import IconPlugConnectedX from "@tabler/icons-react/dist/esm/icons/IconPlugConnectedX.mjs";
import { Link } from "react-router";
import { ApiError } from "../api/client";
import { t } from "../ui/i18n";
import classes from "./frame.module.css";

/** An error message with its hint, and a button that tries again. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const message = error instanceof Error ? error.message : t("Something went wrong.");
  const hint = error instanceof ApiError ? error.hint : null;
  // A retry does not help if the object is missing or may not be read.
  const gone = error instanceof ApiError && (error.status === 404 || error.status === 403);
  return (
    <div className={classes.failed} role="alert">
      {gone ? (
        <IconMapOff size={28} stroke={1.5} className={classes.failedIcon} aria-hidden />
      ) : (
        <IconPlugConnectedX size={28} stroke={1.5} className={classes.failedIcon} aria-hidden />
      )}
      <p className={classes.failedTitle}>{message}</p>
      {hint === null ? null : <p className={classes.failedHint}>{hint}</p>}
      {gone ? (
        <Button size="xs" variant="default" component={Link} to="/">
          {t("Go to the topologies")}
        </Button>
      ) : retry === undefined ? null : (
        <Button size="xs" variant="default" onClick={retry}>
          {t("Try again")}
        </Button>
      )}
    </div>
  );
}
