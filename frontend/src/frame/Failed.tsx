import { Button } from "@mantine/core";
import IconMapOff from "@tabler/icons-react/dist/esm/icons/IconMapOff.mjs";
import IconPlugConnectedX from "@tabler/icons-react/dist/esm/icons/IconPlugConnectedX.mjs";
import { Link } from "react-router";
import { ApiError } from "../api/client";
import { t } from "../ui/i18n";
import classes from "./frame.module.css";

/** Where to go from an address at which there is nothing. */
export interface Back {
  readonly to: string;
  readonly text: string;
}

/** An error message with its hint, and a button that tries again. */
export function Failed(props: {
  error: unknown;
  retry?: (() => void) | undefined;
  gone?: Back | undefined;
}) {
  const { error, retry } = props;
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
        <Button size="xs" variant="default" component={Link} to={props.gone?.to ?? "/"}>
          {props.gone?.text ?? t("Go to the topologies")}
        </Button>
      ) : (
        <div className={classes.failedActions}>
          {retry === undefined ? null : (
            <Button size="xs" variant="default" onClick={retry}>
              {t("Try again")}
            </Button>
          )}
          {props.gone === undefined ? null : (
            <Button size="xs" variant="subtle" component={Link} to={props.gone.to}>
              {props.gone.text}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
