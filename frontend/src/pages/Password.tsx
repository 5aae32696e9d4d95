import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { setPassword } from "../api/accountCalls";
import { ApiError } from "../api/client";
import { Head } from "../frame/ListFrame";
import { SESSION_KEY, useSession } from "../frame/session";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

/** Sets or changes the person's own password. If there is one already, it must be entered. */
export function PasswordForm(props: { onSkip?: () => void }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const queries = useQueryClient();
  const session = useSession();
  const change = useMutation({
    mutationFn: () => setPassword(current, next),
    onSuccess: (signedIn) => {
      setCurrent("");
      setNext("");
      queries.setQueryData(SESSION_KEY, signedIn);
      void queries.invalidateQueries({ queryKey: ["tokens"] });
    },
  });
  const error = change.error instanceof ApiError ? change.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit} className={classes.form} data-testid="password-form">
      <input
        type="text"
        name="username"
        autoComplete="username"
        value={session.data?.user?.username ?? ""}
        readOnly
        hidden
      />
      {session.data?.has_password ? (
        <PasswordInput
          visibilityToggleButtonProps={{ "aria-label": t("Show the password") }}
          label={t("Current password")}
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          error={error?.fields.current}
          required
        />
      ) : null}
      <PasswordInput
        visibilityToggleButtonProps={{ "aria-label": t("Show the password") }}
        label={t("New password")}
        description={t({
          id: "pages.at_least_characters_not",
          message: "At least 8 characters; not a common password, and not only digits.",
        })}
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.currentTarget.value)}
        error={error?.fields.new}
        required
      />
      {error === null || Object.keys(error.fields).length > 0 ? null : (
        <Note tone="failed">{error.text}</Note>
      )}
      {change.isSuccess ? <Note tone="accent">{t("The password is set.")}</Note> : null}
      <div className="ui-end">
        {props.onSkip === undefined ? null : <Button onClick={props.onSkip}>{t("Not now")}</Button>}
        <Button type="submit" variant="filled" loading={change.isPending} disabled={next === ""}>
          {t("Set the password")}
        </Button>
      </div>
    </form>
  );
}

/** The signed-in person's password, in the settings. */
export function Password() {
  const session = useSession();
  return (
    <section className={classes.section} aria-labelledby="password-title">
      <Head
        id="password-title"
        title={t("Your password")}
        about={
          session.data?.has_password
            ? t("A new password ends your other sessions and all your tokens.")
            : t({
                id: "pages.without_password_you_need",
                message: "Without a password, you need a new sign-in link when this session ends.",
              })
        }
      />
      <div className={classes.narrow}>
        <PasswordForm />
      </div>
    </section>
  );
}
