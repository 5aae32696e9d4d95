import { TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { createWorkspace } from "../api/accountCalls";
import { asApiError } from "../api/client";
import { LONGEST_NAME } from "../learn/names";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { SignInLink } from "./SignInLink";

/** The part of addresses for a name: lower-case letters and digits with hyphens between. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-|-$/g, "");
}

/** Creates a workspace with its first admin. */
export function NewWorkspaceDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [typedSlug, setTypedSlug] = useState<string | null>(null);
  const [admin, setAdmin] = useState("");
  const slug = typedSlug ?? slugOf(name);
  const create = useMutation({
    mutationFn: () => createWorkspace({ slug, name: name.trim(), admin: admin.trim() }),
    onSuccess: (created) => {
      if (created.sign_in_link === null) onClose();
    },
  });
  const error = create.error === null ? null : asApiError(create.error);
  const link = create.data?.sign_in_link ?? null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  if (link !== null) {
    const title = t("Sign-in link for {name}", { name: admin });
    return <SignInLink title={title} link={link} onClose={onClose} />;
  }
  return (
    <Modal opened onClose={onClose} title={t("Create a workspace")} size={420}>
      <form onSubmit={submit} className={classes.form} data-testid="workspace-form">
        <TextInput
          label={t("Name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={error?.fields.name}
          maxLength={LONGEST_NAME}
          required
          data-autofocus
        />
        <TextInput
          label={t("Address")}
          description={`/w/${slug}`}
          value={slug}
          onChange={(event) => setTypedSlug(event.currentTarget.value)}
          error={error?.fields.slug}
          maxLength={50}
          required
        />
        <TextInput
          label={t("User name of its first admin")}
          description={t("A new account is created if none exists with this name.")}
          value={admin}
          onChange={(event) => setAdmin(event.currentTarget.value)}
          error={error?.fields.admin}
          maxLength={LONGEST_NAME}
          required
        />
        {error === null || Object.keys(error.fields).length > 0 ? null : (
          <Note tone="failed">{error.text}</Note>
        )}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={create.isPending}
          disabled={name.trim() === "" || slug === "" || admin.trim() === ""}
        >
          {t("Create")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
