import { Switch, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api/client";
import type { RepositoryState } from "../api/types";
import { Note } from "../ui";
import { DialogEnd } from "../ui/DialogEnd";
import { t } from "../ui/i18n";
import { Modal } from "../ui/Modal";
import classes from "../ui/pages.module.css";
import { bindRepository } from "./calls";

/** Chooses the repository of the workspace, its branch and folder. */
export function BindDialog(props: { ws: string; state: RepositoryState; onClose: () => void }) {
  const { onClose, state, ws } = props;
  const before = state.repository;
  const queries = useQueryClient();
  const [url, setUrl] = useState(before?.url ?? "");
  const [branch, setBranch] = useState(before?.branch ?? "main");
  const [folder, setFolder] = useState(before?.folder ?? "");
  const [review, setReview] = useState(before?.review ?? false);
  const bind = useMutation({
    mutationFn: () => bindRepository(ws, { url: url.trim(), branch, folder, review }),
    onSuccess: (bound) => {
      queries.setQueryData(["repository", ws], bound);
      onClose();
    },
  });
  const error = bind.error instanceof ApiError ? bind.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    bind.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={t("Git repository")} size={480}>
      <form onSubmit={submit} className={classes.form}>
        <TextInput
          label={t("Address")}
          description={t("Below {places}.", { places: state.roots.join(", ") })}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={error?.fields.url}
          required
          data-autofocus
          data-testid="repository-url"
        />
        <TextInput
          label={t("Branch")}
          value={branch}
          onChange={(event) => setBranch(event.currentTarget.value)}
          error={error?.fields.branch}
          required
        />
        <TextInput
          label={t("Folder in the repository")}
          description={t({
            id: "git.each_topology_has_folder_of",
            message: "Each topology has a folder of its own in it. Empty: the root.",
          })}
          value={folder}
          onChange={(event) => setFolder(event.currentTarget.value)}
          error={error?.fields.folder}
        />
        <Switch
          label={t("Commit to a branch for review")}
          description={t({
            id: "git.versions_of_each_topology_go",
            message:
              "Versions of each topology go to a branch “millrace/…”, which people merge outside.",
          })}
          checked={review}
          onChange={(event) => setReview(event.currentTarget.checked)}
          data-testid="repository-review"
        />
        {error === null || Object.keys(error.fields).length > 0 ? null : (
          <Note tone="failed">{error.text}</Note>
        )}
        <DialogEnd
          onCancel={onClose}
          type="submit"
          loading={bind.isPending}
          disabled={url.trim() === ""}
          data-testid="bind-now"
        >
          {before === null ? t("Use this repository") : t("Save")}
        </DialogEnd>
      </form>
    </Modal>
  );
}
