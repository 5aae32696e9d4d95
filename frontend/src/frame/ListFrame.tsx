import { type ReactNode, useId } from "react";
import { t } from "../ui/i18n";
import classes from "../ui/pages.module.css";
import { Paged, type Paging, SearchField } from "./paging";

interface HeadProps {
  readonly title: string;
  /** 1 for the title of a page, 2 for that of one of its sections. */
  readonly level?: 1 | 2;
  readonly id?: string;
  readonly count?: number | undefined;
  readonly about?: ReactNode;
  /** The search and the actions, at the end of the line. */
  readonly children?: ReactNode;
}

/** The head of a page or of one of its sections. */
export function Head({ about, children, count, id, level = 2, title }: HeadProps) {
  const Title = level === 1 ? "h1" : "h2";
  return (
    <div className={classes.head}>
      <Title id={id} className={level === 1 ? classes.title : classes.subtitle}>
        {title}
      </Title>
      {count === undefined ? null : <span className={classes.count}>{count}</span>}
      {about === undefined ? (
        <span className="ui-space" />
      ) : (
        <div className={classes.about}>{about}</div>
      )}
      {children}
    </div>
  );
}

/** The frame of every list: title, count, search and actions, then the rows, then the buttons of the pages. */
export function ListFrame<Row>(props: {
  title: string;
  level?: 1 | 2;
  about?: ReactNode;
  paging: Paging<{ count: number; results: readonly Row[] }>;
  /** The label of the search field, and what it searches; by name if it is left out. */
  search: string;
  searches?: string;
  actions?: ReactNode;
  /** Between the head and the rows. */
  notes?: ReactNode;
  /** Shown if no row matches, and if there are no rows at all. */
  none: string;
  empty?: ReactNode;
  testId?: string;
  children: (rows: readonly Row[]) => ReactNode;
}) {
  const { actions, notes, paging, testId, title } = props;
  const { found, list, typed } = paging;
  const id = useId();
  const searchable = found === undefined ? !list.isError : found.count > 0 || typed !== "";
  return (
    <section className={classes.section} aria-labelledby={id} data-testid={testId}>
      <Head title={title} level={props.level} id={id} count={found?.count} about={props.about}>
        {searchable ? (
          <SearchField
            paging={paging}
            className={classes.search}
            label={props.search}
            placeholder={props.searches ?? t("Search by name")}
          />
        ) : null}
        {actions}
      </Head>
      {notes}
      <Paged paging={paging} none={props.none} empty={props.empty}>
        {props.children}
      </Paged>
    </section>
  );
}
