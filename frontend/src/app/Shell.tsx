import type { ReactNode } from "react";
import { Link } from "react-router";
import classes from "./app.module.css";
import { Mark } from "./Mark";
import { useWorkspace } from "./session";
import { UserMenu } from "./UserMenu";

interface ShellProps {
  ws: string;
  title?: string;
  children: ReactNode;
}

/** Bar and page for everything but the designer, which brings its own. */
export function Shell({ ws, title, children }: ShellProps) {
  const workspace = useWorkspace(ws);
  return (
    <div className={classes.shell}>
      <header className={classes.bar}>
        <Link to={`/w/${ws}`} className={classes.brand} aria-label="Millrace">
          <Mark />
        </Link>
        <Link to={`/w/${ws}`} className={classes.crumb}>
          {workspace?.name ?? ws}
        </Link>
        {title === undefined ? null : (
          <>
            <span className={classes.crumb} aria-hidden>
              /
            </span>
            <span className={classes.crumbHere}>{title}</span>
          </>
        )}
        <span className={classes.space} />
        <UserMenu ws={ws} />
      </header>
      <main className={classes.content}>{children}</main>
    </div>
  );
}
