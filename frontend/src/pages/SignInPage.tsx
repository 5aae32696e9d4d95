import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Navigate, useLocation, useNavigate, useSearchParams } from "react-router";
import { signIn } from "../api/accountCalls";
import { type ApiError, asApiError } from "../api/client";
import { Mark } from "../frame/Mark";
import { forgetEnd, hasEnded, SESSION_KEY, useSession } from "../frame/session";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { Commands } from "./Commands";

/** Accepts only addresses of this page: a link must not lead elsewhere after the sign-in. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) ? next : "/w";
}

export function SignInPage() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [search] = useSearchParams();
  const { hash } = useLocation();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const session = useSession();
  const next = safeNext(search.get("next")) + hash;
  if (session.data?.user) return <Navigate to={next} replace />;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const signedIn = await signIn(username.trim(), password);
      forgetEnd();
      queries.setQueryData(SESSION_KEY, signedIn);
      if (!signedIn.user) await queries.invalidateQueries({ queryKey: SESSION_KEY });
      void navigate(next, { replace: true });
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className={classes.entrance}>
      <form className={classes.entranceForm} onSubmit={(event) => void submit(event)}>
        <div className={classes.entranceBrand}>
          <Mark size={28} />
          <h1>Millrace</h1>
        </div>
        <p className={classes.entranceLead}>
          {t("Draw Kafka Streams topologies and run them on Spark.")}
        </p>
        {hasEnded() && error === null ? (
          <Alert variant="light" role="status">
            {t({
              id: "pages.your_session_has_ended",
              message: "Your session has ended. Sign in to continue where you left off.",
            })}
          </Alert>
        ) : null}
        {error === null ? null : (
          <Alert color="red" variant="light" role="alert">
            {error.text}
          </Alert>
        )}
        <TextInput
          label={t("User name")}
          name="username"
          autoComplete="username"
          required
          autoFocus
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
          error={error?.fields.username}
        />
        <PasswordInput
          visibilityToggleButtonProps={{ "aria-label": t("Show the password") }}
          label={t("Password")}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={error?.fields.password}
        />
        <Button type="submit" variant="filled" loading={busy} fullWidth>
          {t("Sign in")}
        </Button>
        <p className={classes.entranceNote}>
          <Commands
            text={t({
              id: "pages.on_your_own_machine",
              message:
                "On your own machine, `./millrace up` prints a link that signs you in without a password.",
            })}
          />
        </p>
      </form>
    </main>
  );
}
