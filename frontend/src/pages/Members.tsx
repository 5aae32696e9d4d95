import { Button, CopyButton, Modal, Select, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { addMember, changeMember, listMembers, removeMember } from "../api/calls";
import { ApiError } from "../api/client";
import type { Member, Role } from "../api/types";
import { Failed } from "../app/Failed";
import { Loading } from "../app/Loading";
import { t } from "../app/phrases";
import { useSession } from "../app/session";
import { tellError } from "../app/tell";
import { Note } from "../ui";
import classes from "./pages.module.css";

export const ROLES: readonly { role: Role; title: string; about: string }[] = [
  { role: "viewer", title: "Viewer", about: "looks" },
  { role: "editor", title: "Editor", about: "draws and saves" },
  { role: "operator", title: "Operator", about: "deploys and stops" },
  { role: "admin", title: "Admin", about: "manages members" },
];

const roleOptions = () =>
  ROLES.map(({ role, title, about }) => ({ value: role, label: `${t(title)} · ${t(about)}` }));

export function Members({ ws, admin }: { ws: string; admin: boolean }) {
  const queries = useQueryClient();
  const key = ["members", ws];
  const [adding, setAdding] = useState(false);
  const members = useQuery({ queryKey: key, queryFn: () => listMembers(ws) });
  const refresh = () => queries.invalidateQueries({ queryKey: key });
  const change = useMutation({
    mutationFn: ({ id, role }: { id: number; role: Role }) => changeMember(ws, id, role),
    onSettled: refresh,
    onError: (error) => tellError(error, t("Role not changed")),
  });
  const remove = useMutation({
    mutationFn: (id: number) => removeMember(ws, id),
    onSettled: refresh,
    onError: (error) => tellError(error, t("Not removed")),
  });

  return (
    <section className={classes.section} aria-labelledby="members-title">
      <div className={classes.sectionHead}>
        <h2 id="members-title">{t("Members")}</h2>
        <p>{t("Each role may do all that the ones before it may.")}</p>
        <span className={classes.space} />
        {admin ? <Button onClick={() => setAdding(true)}>{t("Add a member")}</Button> : null}
      </div>
      {members.isPending ? <Loading /> : null}
      {members.isError ? (
        <Failed error={members.error} retry={() => void members.refetch()} />
      ) : null}
      {members.data === undefined ? null : (
        <div className={classes.card}>
          <table className={`${classes.list} ${classes.plain}`}>
            <thead>
              <tr>
                <th>{t("Name")}</th>
                <th>{t("User name")}</th>
                <th>{t("Role")}</th>
                <th className={classes.actions} />
              </tr>
            </thead>
            <tbody>
              {members.data.map((member) => (
                <MemberRow
                  key={member.id}
                  member={member}
                  admin={admin}
                  onRole={(role) => change.mutate({ id: member.id, role })}
                  onRemove={() => remove.mutate(member.id)}
                />
              ))}
            </tbody>
          </table>
        </div>
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
    </section>
  );
}

function MemberRow(props: {
  member: Member;
  admin: boolean;
  onRole: (role: Role) => void;
  onRemove: () => void;
}) {
  const { user, role } = props.member;
  const { data: session } = useSession();
  const self = session?.user?.id === user.id;
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
            w={220}
          />
        ) : (
          t(ROLES.find((each) => each.role === role)?.title ?? role)
        )}
      </td>
      <td className={classes.actions}>
        {props.admin && !self ? (
          <Button variant="subtle" color="red" onClick={props.onRemove}>
            {t("Remove")}
          </Button>
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
    return (
      <Modal opened onClose={onClose} title={t("{name} was added", { name: username })} size={460}>
        <div className={classes.form}>
          <p>{t("Hand this link over: it signs in once, and is not shown again.")}</p>
          <div className={classes.secret}>
            <span>{link}</span>
            <span className={classes.space} />
            <CopyButton value={link}>
              {({ copied, copy }) => (
                <Button onClick={copy}>{copied ? t("Copied") : t("Copy")}</Button>
              )}
            </CopyButton>
          </div>
          <div className={classes.formEnd}>
            <Button variant="filled" onClick={onClose}>
              {t("Done")}
            </Button>
          </div>
        </div>
      </Modal>
    );
  }
  return (
    <Modal opened onClose={onClose} title={t("Add a member")} size={420}>
      <form onSubmit={submit} className={classes.form}>
        <TextInput
          label={t("User name")}
          description={t("An account that does not exist yet is made.")}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
          error={error?.fields.username}
          required
          data-autofocus
        />
        <TextInput
          label={t("Name shown")}
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
        <div className={classes.formEnd}>
          <Button onClick={onClose}>{t("Cancel")}</Button>
          <Button
            type="submit"
            variant="filled"
            loading={add.isPending}
            disabled={username.trim() === ""}
          >
            {t("Add")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
