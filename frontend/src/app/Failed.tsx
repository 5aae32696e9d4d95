import { Button } from "@mantine/core";
import IconPlugConnectedX from "@tabler/icons-react/dist/esm/icons/IconPlugConnectedX.mjs";
import { ApiError } from "../api/client";
import classes from "./app.module.css";
import { t } from "./phrases";

/** What happened, what would do, and a button that tries again. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const message = error instanceof Error ? error.message : t("Something went wrong.");
  const hint = error instanceof ApiError ? error.hint : null;
  return (
    <div className={classes.failed} role="alert">
      <IconPlugConnectedX size={28} stroke={1.5} className={classes.failedIcon} aria-hidden />
      <p className={classes.failedTitle}>{message}</p>
      {hint === null ? null : <p className={classes.failedHint}>{hint}</p>}
      {retry === undefined ? null : (
        <Button size="xs" variant="default" onClick={retry}>
          {t("Try again")}
        </Button>
      )}
    </div>
  );
}
