import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { accountLink, changeAccount, listAccounts } from "../api/accountCalls";
import type { Account, AccountChange } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { useSession } from "../frame/session";
import { Chip } from "../ui";
import { Confirm } from "../ui/Confirm";
import { ago } from "../ui/format";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { SignInLink } from "./SignInLink";

/** All accounts: sign-in links, closing and opening them, and the admins of the installation. */
export function Accounts() {
  const queries = useQueryClient();
  const paging = usePages(["installation", "accounts"], listAccounts);
  const link = useMutation({
    mutationFn: (account: Account) => accountLink(account.id),
    onError: (error) => notifyError(error, t("Link not created")),
  });
  const change = useMutation({
    mutationFn: (asked: { account: Account; change: AccountChange }) =>
      changeAccount(asked.account.id, asked.change),
    onSettled: () => queries.invalidateQueries({ queryKey: ["installation"] }),
    onError: (error) => notifyError(error, t("Account not changed")),
  });
  return (
    <>
      <ListFrame
        title={t("Accounts")}
        about={t("A new sign-in link ends the account's earlier one.")}
        paging={paging}
        search={t("Search accounts")}
        none={t("No account matches “{search}”.", { search: paging.text })}
      >
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
              <AccountRow
                key={account.id}
                account={account}
                busy={change.isPending && change.variables.account.id === account.id}
                onLink={() => link.mutate(account)}
                onChange={(asked) => change.mutate({ account, change: asked })}
              />
            ))}
          </CardTable>
        )}
      </ListFrame>
      {link.data === undefined ? null : (
        <SignInLink
          title={t("Sign-in link for {name}", { name: link.variables.username })}
          link={link.data.sign_in_link}
          onClose={link.reset}
        />
      )}
    </>
  );
}

function AccountRow(props: {
  account: Account;
  busy: boolean;
  onLink: () => void;
  onChange: (change: AccountChange) => void;
}) {
  const { account, busy, onChange } = props;
  const { data: session } = useSession();
  const self = session?.user?.id === account.id;
  return (
    <tr data-testid="account">
      <td className={classes.wraps}>
        <span className={classes.rowName}>{account.display_name}</span>{" "}
        {self ? <span className={classes.faint}>· {t("you")}</span> : null}{" "}
        {account.installation_admin ? <Chip>{t("Admin of the installation")}</Chip> : null}
        {account.active ? null : <Chip>{t("closed")}</Chip>}
      </td>
      <td>{account.username}</td>
      <td className={classes.text}>{account.workspaces.join(", ") || "–"}</td>
      <td>{account.has_password ? t("set") : t("not set")}</td>
      <td>{account.last_login === null ? t("not yet") : ago(account.last_login)}</td>
      <td className={classes.actions}>
        {account.active ? (
          <>
            <Button variant="subtle" onClick={props.onLink}>
              {t("New sign-in link")}
            </Button>
            {account.installation_admin ? (
              <Confirm
                title={t("Demote…")}
                question={t("{name} can no longer administer the installation.", {
                  name: account.display_name,
                })}
                action={t("Demote")}
                busy={busy}
                onConfirm={() => onChange({ installation_admin: false })}
                testId="demote"
              />
            ) : (
              <Confirm
                title={t("Promote…")}
                question={t(
                  {
                    id: "pages.can_then_create_workspaces",
                    message:
                      "{name} can then create workspaces, sign in to every account by a link, and close accounts.",
                  },
                  { name: account.display_name },
                )}
                action={t("Make admin of the installation")}
                busy={busy}
                onConfirm={() => onChange({ installation_admin: true })}
                testId="promote"
              />
            )}
            {self ? null : (
              <Confirm
                title={t("Close…")}
                question={t(
                  {
                    id: "pages.loses_access_at_once",
                    message:
                      "{name} loses access at once: sessions, tokens, links and memberships end. The audit log is kept.",
                  },
                  { name: account.display_name },
                )}
                action={t("Close the account")}
                busy={busy}
                onConfirm={() => onChange({ active: false })}
                testId="close-account"
              />
            )}
          </>
        ) : (
          <Button variant="subtle" loading={busy} onClick={() => onChange({ active: true })}>
            {t("Open again")}
          </Button>
        )}
      </td>
    </tr>
  );
}
