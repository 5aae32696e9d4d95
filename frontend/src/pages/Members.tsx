import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  addMember,
  changeMember,
  listMembers,
  memberLink,
  removeMember,
} from "../api/accountCalls";
import { ApiError } from "../api/client";
import type { Member, Role } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { useSession } from "../frame/session";
import { Note } from "../ui";
import { Confirm } from "../ui/Confirm";
import { DialogEnd } from "../ui/DialogEnd";
import { type Phrase, phrase, t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { SignInLink } from "./SignInLink";

const ROLES: readonly { role: Role; title: Phrase; about: Phrase }[] = [
  { role: "viewer", title: phrase("Viewer"), about: phrase("can view") },
  { role: "editor", title: phrase("Editor"), about: phrase("can draw and save") },
  { role: "operator", title: phrase("Operator"), about: phrase("can deploy and stop") },
  { role: "admin", title: phrase("Admin"), about: phrase("can manage members") },
];

function roleTitle(role: Role): string {
  const title = ROLES.find((each) => each.role === role)?.title;
  return title === undefined ? role : t(title);
}

const roleOptions = () =>
  ROLES.map(({ role, title, about }) => ({ value: role, label: `${t(title)} · ${t(about)}` }));

export function Members({ ws, admin }: { ws: string; admin: boolean }) {
  const queries = useQueryClient();
  const key = ["members", ws];
  const [adding, setAdding] = useState(false);
  const paging = usePages(key, (query) => listMembers(ws, query));
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const change = useMutation({
    mutationFn: ({ id, role }: { id: number; role: Role }) => changeMember(ws, id, role),
    onSettled: refresh,
    onError: (error) => notifyError(error, t("Could not change the role")),
  });
  const remove = useMutation({
    mutationFn: (id: number) => removeMember(ws, id),
    onSettled: refresh,
    onError: (error) => notifyError(error, t("Could not remove")),
  });
  const link = useMutation({
    mutationFn: (member: Member) => memberLink(ws, member.id),
    onError: (error) => notifyError(error, t("Link not created")),
  });

  return (
    <>
      <ListFrame
        title={t("Members")}
        about={t("Each role includes the permissions of the roles before it.")}
        paging={paging}
        search={t("Search members")}
        actions={
          admin ? <Button onClick={() => setAdding(true)}>{t("Add a member")}</Button> : null
        }
        none={t("No member matches “{search}”.", { search: paging.text })}
      >
        {(members) => (
          <CardTable head={[t("Name"), t("User name"), t("Role"), ""]}>
            {members.map((member) => (
              <MemberRow
                key={member.id}
                member={member}
                admin={admin}
                onRole={(role) => change.mutate({ id: member.id, role })}
                onRemove={() => remove.mutate(member.id)}
                removing={remove.isPending && remove.variables === member.id}
                onLink={() => link.mutate(member)}
              />
            ))}
          </CardTable>
        )}
      </ListFrame>
      {link.data === undefined ? null : (
        <SignInLink
          title={t("Sign-in link for {name}", { name: link.variables.user.username })}
          link={link.data.sign_in_link}
          onClose={link.reset}
        />
      )}
      {adding ? (
        <AddMember
          ws={ws}
          onClose={() => {
            setAdding(false);
            void refresh();
          }}
        />
      ) : null}
    </>
  );
}

function MemberRow(props: {
  member: Member;
  admin: boolean;
  onRole: (role: Role) => void;
  onRemove: () => void;
  removing: boolean;
  onLink: () => void;
}) {
  const { user, role, created_here } = props.member;
  const { data: session } = useSession();
  const self = session?.user?.id === user.id;
  const linkable = created_here || session?.installation_admin === true;
  return (
    <tr>
      <td>
        <span className={classes.rowName}>{user.display_name || user.username}</span>
        {self ? <span className={classes.faint}> · {t("you")}</span> : null}
      </td>
      <td>{user.username}</td>
      <td>
        {props.admin && !self ? (
          <Select
            aria-label={t("Role of {name}", { name: user.username })}
            data={roleOptions()}
            value={role}
            onChange={(value) => value !== null && props.onRole(value as Role)}
            w={250}
          />
        ) : (
          roleTitle(role)
        )}
      </td>
      <td className={classes.actions}>
        {props.admin && !self && linkable ? (
          <Button variant="subtle" onClick={props.onLink}>
            {t("New sign-in link")}
          </Button>
        ) : null}
        {props.admin && !self ? (
          <Confirm
            title={t("Remove…")}
            question={t("{name} loses access to this workspace. The account is kept.", {
              name: user.display_name || user.username,
            })}
            action={t("Remove from the workspace")}
            busy={props.removing}
            onConfirm={props.onRemove}
            testId="remove-member"
          />
        ) : null}
      </td>
    </tr>
  );
}

function AddMember({ ws, onClose }: { ws: string; onClose: () => void }) {
  const [username, setUsername] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [role, setRole] = useState<Role>("editor");
  const add = useMutation({
    mutationFn: () =>
      addMember(ws, { username: username.trim(), display_name: displayName.trim(), role }),
    onSuccess: (added) => {
      if (added.sign_in_link === null) onClose();
    },
  });
  const error = add.error instanceof ApiError ? add.error : null;
  const link = add.data?.sign_in_link ?? null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  if (link !== null) {
    const title = t("{name} was added", { name: username });
    return <SignInLink title={title} link={link} onClose={onClose} />;
  }
  return (
    <Modal opened onClose={onClose} title={t("Add a member")} size={420}>
      <form onSubmit={submit} className={classes.form}>
        <TextInput
          label={t("User name")}
          description={t("A new account is created if none exists with this name.")}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
          error={error?.fields.username}
          required
          data-autofocus
        />
        <TextInput
          label={t("Display name")}
          value={displayName}
          onChange={(event) => setDisplayName(event.currentTarget.value)}
          error={error?.fields.display_name}
        />
        <Select
          label={t("Role")}
          data={roleOptions()}
          value={role}
          onChange={(value) => value !== null && setRole(value as Role)}
        />
        {error === null || Object.keys(error.fields).length > 0 ? null : (
          <Note tone="failed">
            {error.message} {error.hint}
          </Note>
        )}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={add.isPending}
          disabled={username.trim() === ""}
        >
          {t("Add")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
