import type { ReactNode } from "react";
import classes from "./frame.module.css";

/** What takes the place of a page that is not there yet, with a heading and a landmark for screen readers. */
export function WholePage({ children }: { children: ReactNode }) {
  return (
    <main className={classes.whole}>
      <h1 className="m-hidden">Millrace</h1>
      {children}
    </main>
  );
}
