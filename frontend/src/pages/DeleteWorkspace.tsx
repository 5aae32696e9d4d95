import { Button } from "@mantine/core";
import { useState } from "react";
import { useNavigate } from "react-router";
import type { Workspace } from "../api/types";
import { Head } from "../frame/ListFrame";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { DeleteWorkspaceDialog } from "./DeleteWorkspaceDialog";

/** The section of the settings that deletes the workspace. */
export function DeleteWorkspace({ workspace }: { workspace: Workspace }) {
  const { name, slug } = workspace;
  const [asked, setAsked] = useState(false);
  const navigate = useNavigate();
  return (
    <section className={classes.section}>
      <Head
        title={t("Delete the workspace")}
        about={t("With all topologies and deployments, for all members.")}
      >
        <Button
          variant="subtle"
          color="red"
          onClick={() => setAsked(true)}
          data-testid="delete-workspace"
        >
          {t("Delete…")}
        </Button>
      </Head>
      {asked ? (
        <DeleteWorkspaceDialog
          slug={slug}
          name={name}
          onClose={() => setAsked(false)}
          onDeleted={() => void navigate("/w")}
        />
      ) : null}
    </section>
  );
}
