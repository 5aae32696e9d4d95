import { type ReactNode, useEffect, useState } from "react";
import { Link, NavLink } from "react-router";
import { t } from "../ui/i18n";
import { useRest } from "../ui/later";
import { AlertCount } from "./AlertMark";
import classes from "./frame.module.css";
import { Mark } from "./Mark";
import { usePageLoading } from "./pageLoading";
import { useWorkspace } from "./session";
import { UserMenu } from "./UserMenu";
import { WorkspaceSwitch } from "./WorkspaceSwitch";

interface ShellProps {
  ws?: string;
  /** Uses more of a large screen, for tables with many columns. */
  wide?: boolean;
  children: ReactNode;
}

/** Shows that a page is loading if a click on a link takes long. */
function Waiting() {
  const { loading } = usePageLoading();
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!loading) return;
    const timer = setTimeout(() => setLong(true), WAITING_MS);
    return () => clearTimeout(timer);
  }, [loading]);
  return <output>{loading && long ? t("The server is slow to respond…") : null}</output>;
}

const WAITING_MS = 1_500;

/** The top bar and page of everything except the designer, which has its own. */
export function Shell({ ws, wide, children }: ShellProps) {
  const workspace = useWorkspace(ws);
  useRest();
  const home = ws === undefined ? "/w" : `/w/${ws}`;
  return (
    <div className={classes.shell}>
      <header className={classes.bar}>
        <Link to={home} className={classes.brand} aria-label="Millrace">
          <Mark />
          {ws === undefined ? "Millrace" : null}
        </Link>
        {ws === undefined ? null : (
          <Link to={home} className={classes.crumb} title={workspace?.name}>
            {workspace?.name ?? ws}
          </Link>
        )}
        {ws === undefined ? null : <WorkspaceSwitch ws={ws} />}
        {ws === undefined ? null : (
          <nav className={classes.nav} aria-label={t("Workspace")}>
            <NavLink to={home} end className={classes.navLink}>
              {t("Topologies")}
            </NavLink>
            <NavLink to={`${home}/topics`} className={classes.navLink}>
              {t("Topics")}
            </NavLink>
            <NavLink to={`${home}/alerts`} className={classes.navLink}>
              {t("Alerts")}
              <AlertCount ws={ws} />
            </NavLink>
            <NavLink to={`${home}/settings`} className={classes.navLink}>
              {t("Settings")}
            </NavLink>
          </nav>
        )}
        <span className="ui-space" />
        <Waiting />
        <UserMenu ws={ws} />
      </header>
      <main className={wide ? `${classes.content} ${classes.wide}` : classes.content}>
        {children}
      </main>
    </div>
  );
}
