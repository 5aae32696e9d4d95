import { Button, TagsInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { listInstallationAudit, listWorkspaces, setTopicPrefixes } from "../api/accountCalls";
import type { WorkspaceSettings } from "../api/types";
import { CardTable } from "../frame/CardTable";
import { Head, ListFrame } from "../frame/ListFrame";
import { notifyError } from "../frame/notify";
import { usePages } from "../frame/paging";
import { Shell } from "../frame/Shell";
import { useTitle } from "../frame/useTitle";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { AbandonedDrafts } from "./AbandonedDrafts";
import { Accounts } from "./Accounts";
import { Audit } from "./Audit";
import { DeleteWorkspaceDialog } from "./DeleteWorkspaceDialog";
import { NewWorkspaceDialog } from "./NewWorkspaceDialog";

/** Settings for the admins of the installation: workspaces, accounts, drafts that nobody can open, the audit log. */
export function InstallationPage() {
  useTitle(t("Installation"));
  return (
    <Shell>
      <Head level={1} title={t("Installation")} />
      <Workspaces />
      <Accounts />
      <AbandonedDrafts />
      <Audit
        of={["installation", "audit"]}
        list={listInstallationAudit}
        about={t({
          id: "pages.audit_of_installation",
          message: "Sign-ins, accounts and tokens, and what was done in deleted workspaces.",
        })}
      />
    </Shell>
  );
}

const WORKSPACES = ["installation", "workspaces"];

function Workspaces() {
  const paging = usePages(WORKSPACES, listWorkspaces);
  const queries = useQueryClient();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <ListFrame
        title={t("Workspaces")}
        about={t({
          id: "pages.workspace_can_only_use",
          message: "A workspace can only use topics that begin with one of its prefixes.",
        })}
        paging={paging}
        search={t("Search workspaces")}
        actions={
          <Button onClick={() => setCreating(true)} data-testid="create-workspace">
            {t("Create a workspace")}
          </Button>
        }
        none={t("No workspace matches “{search}”.", { search: paging.text })}
      >
        {(workspaces) => (
          <CardTable head={[t("Name"), t("Topic prefixes"), ""]}>
            {workspaces.map((workspace) => (
              <WorkspaceRow key={workspace.id} workspace={workspace} />
            ))}
          </CardTable>
        )}
      </ListFrame>
      {creating ? (
        <NewWorkspaceDialog
          onClose={() => {
            setCreating(false);
            void queries.invalidateQueries({ queryKey: ["installation"] });
          }}
        />
      ) : null}
    </>
  );
}

function WorkspaceRow({ workspace }: { workspace: WorkspaceSettings }) {
  const [prefixes, setPrefixes] = useState(workspace.topic_prefixes);
  const [deleting, setDeleting] = useState(false);
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
        <Button
          variant="subtle"
          color="red"
          aria-label={t("Delete the workspace {name}", { name: workspace.name })}
          onClick={() => setDeleting(true)}
        >
          {t("Delete…")}
        </Button>
        {deleting ? (
          <DeleteWorkspaceDialog
            slug={workspace.slug}
            name={workspace.name}
            onClose={() => setDeleting(false)}
            onDeleted={() => void queries.invalidateQueries({ queryKey: ["installation"] })}
          />
        ) : null}
      </td>
    </tr>
  );
}
