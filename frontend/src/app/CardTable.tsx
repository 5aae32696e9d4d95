import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "../ui/pages.module.css";
import { ActionsHead } from "./ActionsHead";

/** Placeholders for rows that are loading. */
export function SkeletonRows({ columns }: { columns: number }) {
  return [0, 1, 2, 3].map((row) => (
    <tr key={row}>
      <td colSpan={columns}>
        <Skeleton height={18} my={8} width={`${70 - row * 12}%`} />
      </td>
    </tr>
  ));
}

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
