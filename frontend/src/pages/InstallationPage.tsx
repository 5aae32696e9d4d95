import { Button, TagsInput, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { accountLink, listAccounts, listWorkspaces, setTopicPrefixes } from "../api/accountCalls";
import type { AccountPage, WorkspaceSettings } from "../api/types";
import { ActionsHead } from "../app/ActionsHead";
import { notifyError } from "../app/notify";
import { Pages } from "../app/Pages";
import { Shell } from "../app/Shell";
import { Waiting } from "../app/Waiting";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { SignInLink } from "./SignInLink";

/** What the installation's admin sets: topics of workspaces, sign-in links of accounts. */
export function InstallationPage() {
  useEffect(() => {
    document.title = `${t("Installation")} · Millrace`;
  }, []);
  return (
    <Shell>
      <div className={classes.head}>
        <h1 className={classes.title}>{t("Installation")}</h1>
      </div>
      <Workspaces />
      <Accounts />
    </Shell>
  );
}

const PAGE_SIZE = 50;
const WORKSPACES = ["installation", "workspaces"];

function Workspaces() {
  const found = useQuery({ queryKey: WORKSPACES, queryFn: listWorkspaces });
  return (
    <section className={classes.section} aria-labelledby="workspaces-title">
      <div className={classes.sectionHead}>
        <h2 id="workspaces-title">{t("Workspaces")}</h2>
        <p>{t("A workspace can only use topics that begin with one of its prefixes.")}</p>
      </div>
      <Waiting query={found} />
      {found.data === undefined ? null : (
        <div className={classes.card}>
          <table className={`${classes.list} ${classes.plain}`}>
            <thead>
              <tr>
                <th>{t("Name")}</th>
                <th>{t("Topic prefixes")}</th>
                <ActionsHead />
              </tr>
            </thead>
            <tbody>
              {found.data.map((workspace) => (
                <WorkspaceRow key={workspace.id} workspace={workspace} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function WorkspaceRow({ workspace }: { workspace: WorkspaceSettings }) {
  const [prefixes, setPrefixes] = useState(workspace.topic_prefixes);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => setTopicPrefixes(workspace.slug, prefixes),
    onSuccess: () => queries.invalidateQueries({ queryKey: WORKSPACES }),
    onError: (error) => notifyError(error, t("Prefixes not saved")),
  });
  const changed = prefixes.join() !== workspace.topic_prefixes.join();
  return (
    <tr>
      <td>
        <span className={classes.rowName}>{workspace.name}</span>{" "}
        <span className={classes.faint}>{workspace.slug}</span>
      </td>
      <td>
        <TagsInput
          aria-label={t("Topic prefixes of {name}", { name: workspace.name })}
          placeholder={prefixes.length === 0 ? t("all topics") : ""}
          value={prefixes}
          onChange={setPrefixes}
        />
      </td>
      <td className={classes.actions}>
        <Button disabled={!changed} loading={save.isPending} onClick={() => save.mutate()}>
          {t("Save prefixes")}
        </Button>
      </td>
    </tr>
  );
}

function Accounts() {
  const [search, setSearch] = useState("");
  const [debounced] = useDebouncedValue(search.trim(), 200);
  const [page, setPage] = useState(1);
  const found = useQuery({
    queryKey: ["installation", "accounts", debounced, page],
    queryFn: () => listAccounts(debounced, page, PAGE_SIZE),
    placeholderData: keepPreviousData,
  });
  const pages = Math.ceil((found.data?.count ?? 0) / PAGE_SIZE);
  const link = useMutation({
    mutationFn: (account: AccountPage["results"][number]) => accountLink(account.id),
    onError: (error) => notifyError(error, t("No link created")),
  });
  return (
    <section className={classes.section} aria-labelledby="accounts-title">
      <div className={classes.sectionHead}>
        <h2 id="accounts-title">{t("Accounts")}</h2>
        <p>{t("A new sign-in link ends the account's earlier one.")}</p>
        <span className="ui-space" />
        <TextInput
          aria-label={t("Search accounts")}
          placeholder={t("Search accounts")}
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            setPage(1);
          }}
        />
      </div>
      <Waiting query={found} kept={found.data !== undefined} />
      {found.data === undefined ? null : found.data.count === 0 ? (
        <div className={classes.nothing} role="status">
          {t("No account matches “{search}”.", { search: debounced })}
        </div>
      ) : (
        <div className={classes.card}>
          <table className={`${classes.list} ${classes.plain}`}>
            <thead>
              <tr>
                <th>{t("Name")}</th>
                <th>{t("User name")}</th>
                <th>{t("Workspaces")}</th>
                <th>{t("Password")}</th>
                <th>{t("Last sign-in")}</th>
                <ActionsHead />
              </tr>
            </thead>
            <tbody>
              {found.data.results.map((account) => (
                <tr key={account.id}>
                  <td className={classes.rowName}>{account.display_name}</td>
                  <td>{account.username}</td>
                  <td className={classes.text}>{account.workspaces.join(", ") || "–"}</td>
                  <td>{account.has_password ? t("set") : t("not set")}</td>
                  <td>{account.last_login === null ? t("never") : ago(account.last_login)}</td>
                  <td className={classes.actions}>
                    <Button variant="subtle" onClick={() => link.mutate(account)}>
                      {t("New sign-in link")}
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pages > 1 ? (
        <div className={classes.pages}>
          <Pages total={pages} value={page} onChange={setPage} />
        </div>
      ) : null}
      {link.data === undefined ? null : (
        <SignInLink
          title={t("Sign-in link for {name}", { name: link.variables.username })}
          link={link.data.sign_in_link}
          onClose={link.reset}
        />
      )}
    </section>
  );
}
