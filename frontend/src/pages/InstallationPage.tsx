import { Button, TagsInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountLink, listAccounts, listWorkspaces, setTopicPrefixes } from "../api/accountCalls";
import type { AccountPage, WorkspaceSettings } from "../api/types";
import { CardTable } from "../app/CardTable";
import { notifyError } from "../app/notify";
import { Paged, SearchField, usePages } from "../app/paging";
import { Shell } from "../app/Shell";
import { useTitle } from "../app/useTitle";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { SignInLink } from "./SignInLink";

/** Settings for the installation's admin: topics of workspaces, sign-in links of accounts. */
export function InstallationPage() {
  useTitle(t("Installation"));
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

const WORKSPACES = ["installation", "workspaces"];

function Workspaces() {
  const paging = usePages(WORKSPACES, listWorkspaces);
  return (
    <section className={classes.section} aria-labelledby="workspaces-title">
      <div className={classes.sectionHead}>
        <h2 id="workspaces-title">{t("Workspaces")}</h2>
        <p>{t("A workspace can only use topics that begin with one of its prefixes.")}</p>
        <span className="ui-space" />
        <SearchField
          paging={paging}
          label={t("Search workspaces")}
          placeholder={t("Search by name")}
        />
      </div>
      <Paged paging={paging} none={t("No workspace matches “{search}”.", { search: paging.text })}>
        {(workspaces) => (
          <CardTable head={[t("Name"), t("Topic prefixes"), ""]}>
            {workspaces.map((workspace) => (
              <WorkspaceRow key={workspace.id} workspace={workspace} />
            ))}
          </CardTable>
        )}
      </Paged>
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
  const paging = usePages(["installation", "accounts"], listAccounts);
  const link = useMutation({
    mutationFn: (account: AccountPage["results"][number]) => accountLink(account.id),
    onError: (error) => notifyError(error, t("Link not created")),
  });
  return (
    <section className={classes.section} aria-labelledby="accounts-title">
      <div className={classes.sectionHead}>
        <h2 id="accounts-title">{t("Accounts")}</h2>
        <p>{t("A new sign-in link ends the account's earlier one.")}</p>
        <span className="ui-space" />
        <SearchField
          paging={paging}
          label={t("Search accounts")}
          placeholder={t("Search by name")}
        />
      </div>
      <Paged paging={paging} none={t("No account matches “{search}”.", { search: paging.text })}>
        {(accounts) => (
          <CardTable
            head={[
              t("Name"),
              t("User name"),
              t("Workspaces"),
              t("Password"),
              t("Last sign-in"),
              "",
            ]}
          >
            {accounts.map((account) => (
              <tr key={account.id}>
                <td className={classes.rowName}>{account.display_name}</td>
                <td>{account.username}</td>
                <td className={classes.text}>{account.workspaces.join(", ") || "–"}</td>
                <td>{account.has_password ? t("set") : t("not set")}</td>
                <td>{account.last_login === null ? t("not yet") : ago(account.last_login)}</td>
                <td className={classes.actions}>
                  <Button variant="subtle" onClick={() => link.mutate(account)}>
                    {t("New sign-in link")}
                  </Button>
                </td>
              </tr>
            ))}
          </CardTable>
        )}
      </Paged>
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
