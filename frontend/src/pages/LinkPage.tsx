import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link, Navigate, useParams } from "react-router";
import { signInByLink } from "../api/accountCalls";
import { ApiError } from "../api/client";
import { Loading } from "../frame/Loading";
import { Mark } from "../frame/Mark";
import { SESSION_KEY, useSession } from "../frame/session";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { Commands } from "./Commands";
import { PasswordForm } from "./Password";

/** Signs in with the one-time link that `./millrace up` prints. */
export function LinkPage() {
  const { token = "" } = useParams();
  const queries = useQueryClient();
  const session = useSession();
  const asked = useRef(false);
  const [skipped, setSkipped] = useState(false);
  const enter = useMutation({
    mutationFn: () => signInByLink(token),
    onSuccess: (signedIn) => {
      if (signedIn?.user) queries.setQueryData(SESSION_KEY, signedIn);
      else void queries.invalidateQueries({ queryKey: SESSION_KEY });
    },
  });
  const { mutate } = enter;
  useEffect(() => {
    // A link works only once, and React's second mount in development must not use it up.
    if (asked.current) return;
    asked.current = true;
    mutate();
  }, [mutate]);

  // The installation's admin gets a new link from `./millrace up`; others would be locked out.
  const asks = session.data?.user && !session.data.has_password && !session.data.installation_admin;
  if (enter.isSuccess && asks && !skipped) {
    return (
      <main className={classes.entrance}>
        <div className={classes.entranceForm}>
          <div className={classes.entranceBrand}>
            <Mark size={28} />
            <h1>{t("Set a password")}</h1>
          </div>
          <p className={classes.entranceLead}>
            {t(
              {
                id: "pages.link_can_be_used",
                message:
                  "The link can be used only once. With a password, you can sign in again as {name}.",
              },
              {
                name: session.data?.user?.username ?? "",
              },
            )}
          </p>
          <PasswordForm onSkip={() => setSkipped(true)} />
        </div>
      </main>
    );
  }
  // Someone who is already signed in can follow a used link.
  if (session.data?.user && (enter.isSuccess || enter.isError)) return <Navigate to="/w" replace />;
  if (!enter.isError) return <Loading what={t("Signing in…")} />;
  const error = enter.error instanceof ApiError ? enter.error : null;
  return (
    <main className={classes.entrance}>
      <div className={classes.entranceForm}>
        <div className={classes.entranceBrand}>
          <Mark size={28} />
          <h1>{t("This link no longer works")}</h1>
        </div>
        <p className={classes.entranceLead} role="alert">
          {error === null || error.status >= 500 || error.status === 0
            ? [error?.message, error?.hint].join(" ")
            : t({
                id: "pages.it_has_already_been",
                message:
                  "It has already been used, has been replaced by a newer one, or has expired.",
              })}
        </p>
        <p className={classes.entranceNote}>
          <Commands
            text={t({
              id: "pages.millrace_up_prints_new",
              message:
                "`./millrace up` prints a new link. On a server, an administrator creates it.",
            })}
          />
        </p>
        <Button component={Link} to="/sign-in" variant="default" fullWidth>
          {t("Sign in with a password")}
        </Button>
      </div>
    </main>
  );
}
