import type { ReactNode } from "react";
import classes from "../ui/pages.module.css";
import { ActionsHead } from "./ActionsHead";

/** A table in a card. `head` has the column titles, "" for a column of buttons. */
export function CardTable(props: {
  head: readonly (string | { number: string })[];
  className?: string;
  testId?: string;
  children: ReactNode;
}) {
  return (
    <div className={classes.card} data-testid={props.testId}>
      <table className={`${classes.list} ${classes.plain} ${props.className ?? ""}`}>
        <thead>
          <tr>
            {props.head.map((title) =>
              title === "" ? (
                <ActionsHead key="" />
              ) : typeof title === "string" ? (
                <th key={title}>{title}</th>
              ) : (
                <th key={title.number} className={classes.number}>
                  {title.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}
