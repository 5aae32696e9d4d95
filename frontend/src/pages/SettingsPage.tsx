import { useParams } from "react-router";
import { listAudit } from "../api/accountCalls";
import { Head } from "../frame/ListFrame";
import { Shell } from "../frame/Shell";
import { may, useWorkspace } from "../frame/session";
import { useTitle } from "../frame/useTitle";
import { RepositorySection } from "../git/RepositorySection";
import { t } from "../ui/i18n";
import { Audit } from "./Audit";
import { DeleteWorkspace } from "./DeleteWorkspace";
import { Members } from "./Members";
import { OwnDrafts } from "./OwnDrafts";
import { Password } from "./Password";
import { Rules } from "./Rules";
import { Tokens } from "./Tokens";

/** Members, rules and audit log of the workspace, and the signed-in person's password, tokens and drafts. */
export function SettingsPage() {
  const { ws = "" } = useParams();
  const workspace = useWorkspace(ws);
  useTitle(t("Settings"));
  return (
    <Shell ws={ws}>
      <Head level={1} title={t("Settings")} />
      <Members ws={ws} admin={workspace?.role === "admin"} />
      <Rules ws={ws} admin={workspace?.role === "admin"} />
      <RepositorySection
        ws={ws}
        admin={workspace?.role === "admin"}
        editor={may(workspace?.role, "editor")}
      />
      {workspace?.role === "admin" ? (
        <>
          <Audit
            of={["audit", ws]}
            list={(query) => listAudit(ws, query)}
            about={t("Who did what in this workspace, newest first.")}
          />
          <DeleteWorkspace workspace={workspace} />
        </>
      ) : null}
      <Password />
      <Tokens />
      <OwnDrafts />
    </Shell>
  );
}
