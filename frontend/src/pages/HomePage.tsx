import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate } from "react-router";
import { listTopologies } from "../api/topologyCalls";
import classes from "../frame/frame.module.css";
import { Loading } from "../frame/Loading";
import { useSession } from "../frame/session";
import { UserMenu } from "../frame/UserMenu";
import { t } from "../ui/i18n";

const LAST = "millrace.workspace";

export function rememberWorkspace(slug: string): void {
  localStorage.setItem(LAST, slug);
}

/** On the first visit, opens the only topology if it is running. */
function FirstVisit({ ws }: { ws: string }) {
  const found = useQuery({
    queryKey: ["first-visit", ws],
    queryFn: () => listTopologies(ws, { page_size: 2 }),
    retry: false,
  });
  if (found.isPending) return <Loading />;
  const [only, ...others] = found.data?.results ?? [];
  const alive = only !== undefined && others.length === 0 && only.deployment?.desired === "running";
  return <Navigate to={alive ? `/w/${ws}/t/${only.id}?layer=runtime` : `/w/${ws}`} replace />;
}

/** Redirects to the workspace that was opened last, or to the first one. */
export function HomePage() {
  const { data } = useSession();
  const workspaces = data?.workspaces ?? [];
  const last = localStorage.getItem(LAST);
  const target = workspaces.find((workspace) => workspace.slug === last) ?? workspaces[0];
  if (target !== undefined && last === null) return <FirstVisit ws={target.slug} />;
  if (target !== undefined) return <Navigate to={`/w/${target.slug}`} replace />;
  return (
    <div className={classes.shell}>
      <header className={classes.bar}>
        <span className="ui-space" />
        <UserMenu />
      </header>
      <div className={classes.failed}>
        <p className={classes.failedTitle}>{t("You are not a member of any workspace yet.")}</p>
        {data?.installation_admin === true ? (
          <Button component={Link} to="/installation">
            {t("Create a workspace")}
          </Button>
        ) : (
          <p className={classes.failedHint}>
            {t("Ask an administrator to add you under Members.")}
          </p>
        )}
      </div>
    </div>
  );
}
