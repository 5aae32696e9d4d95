import { Navigate } from "react-router";
import classes from "../app/app.module.css";
import { t } from "../app/phrases";
import { useSession } from "../app/session";
import { UserMenu } from "../app/UserMenu";

const LAST = "millrace.workspace";

export function rememberWorkspace(slug: string): void {
  localStorage.setItem(LAST, slug);
}

/** Goes to the workspace that was open last, or to the first one. */
export function HomePage() {
  const { data } = useSession();
  const workspaces = data?.workspaces ?? [];
  const last = localStorage.getItem(LAST);
  const target = workspaces.find((workspace) => workspace.slug === last) ?? workspaces[0];
  if (target !== undefined) return <Navigate to={`/w/${target.slug}`} replace />;
  return (
    <div className={classes.shell}>
      <header className={classes.bar}>
        <span className={classes.space} />
        <UserMenu />
      </header>
      <div className={classes.failed}>
        <p className={classes.failedTitle}>{t("You are not a member of any workspace yet.")}</p>
        <p className={classes.failedHint}>{t("Ask an administrator to add you under Members.")}</p>
      </div>
    </div>
  );
}
