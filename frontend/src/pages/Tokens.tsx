import { Button, CopyButton, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createToken, deleteToken, listTokens } from "../api/accountCalls";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { Chip, Empty, Note } from "../ui";
import { Confirm } from "../ui/Confirm";
import { ago, moment } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";

const KEY = ["tokens"];

/** Tokens with which programs act on behalf of the person. */
export function Tokens() {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState(30);
  const paging = usePages(KEY, listTokens);
  const refresh = () => queries.invalidateQueries({ queryKey: KEY });
  const create = useMutation({
    mutationFn: () => createToken(name.trim(), days),
    onSuccess: () => {
      setName("");
      void refresh();
    },
    onError: (error) => notifyError(error, t("Token not created")),
  });
  const revoke = useMutation({
    mutationFn: deleteToken,
    onSuccess: (_done, token) => {
      if (create.data?.id === token) create.reset();
    },
    onSettled: refresh,
    onError: (error) => notifyError(error, t("Could not revoke")),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") create.mutate();
  };

  return (
    <ListFrame
      title={t("Your tokens")}
      about={t({
        id: "pages.for_scripts_and_pipelines",
        message: "For scripts and pipelines. They act on your behalf, with your role.",
      })}
      paging={paging}
      search={t("Search tokens")}
      actions={
        <form onSubmit={submit} className={classes.tools}>
          <TextInput
            aria-label={t("Name of the token")}
            placeholder={t("what it is for")}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            aria-label={t("Valid for")}
            value={String(days)}
            onChange={(value) => setDays(Number(value ?? 30))}
            data={[7, 30, 90, 365].map((n) => ({ value: String(n), label: t("{n} days", { n }) }))}
            w={110}
          />
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ""}>
            {t("Create a token")}
          </Button>
        </form>
      }
      notes={
        create.data === undefined ? null : (
          <div style={{ marginBottom: 10 }}>
            <Note tone="accent">{t("Copy it now: it is not shown again.")}</Note>
            <div className={classes.secret}>
              <span>{create.data.token}</span>
              <span className="ui-space" />
              <CopyButton value={create.data.token}>
                {({ copied, copy }) => (
                  <Button onClick={copy}>{copied ? t("Copied") : t("Copy")}</Button>
                )}
              </CopyButton>
            </div>
          </div>
        )
      }
      none={t("No token matches “{search}”.", { search: paging.text })}
      empty={
        <Empty title={t("No tokens")}>
          {t({
            id: "pages.create_one_above_then",
            message: "Create one above, then send it as the header “Authorization: Token …”.",
          })}
        </Empty>
      }
    >
      {(tokens) => (
        <CardTable head={[t("Name"), t("Created"), t("Expires"), ""]}>
          {tokens.map((token) => (
            <tr key={token.id}>
              <td>
                {token.name} <code className={classes.faint}>{token.prefix}…</code>
              </td>
              <td title={moment(token.created_at)}>{ago(token.created_at)}</td>
              <td>
                {token.expires_at === null ? t("never") : moment(token.expires_at)}{" "}
                {token.expires_at !== null && Date.parse(token.expires_at) < Date.now() ? (
                  <Chip>{t("expired")}</Chip>
                ) : null}
              </td>
              <td className={classes.actions}>
                <Confirm
                  title={t("Revoke…")}
                  question={t("Programs that use the token “{name}” lose access at once.", {
                    name: token.name,
                  })}
                  action={t("Revoke the token")}
                  busy={revoke.isPending && revoke.variables === token.id}
                  onConfirm={() => revoke.mutate(token.id)}
                  testId="revoke-token"
                />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
    </ListFrame>
  );
}
