import type { ReactNode } from "react";
import { t } from "../ui/i18n";
import { Time } from "../ui/Time";
import classes from "./simulate.module.css";
import { valueText } from "./words";

/** A record in a list; `id` identifies it in the list. */
export interface ListedRecord {
  readonly id: number;
  readonly key: unknown;
  readonly value: unknown;
  readonly timestamp: number;
  /** True if the key, or the value, is only the beginning of a longer JSON text. */
  readonly key_cut?: boolean;
  readonly value_cut?: boolean;
}

/** A column in addition to key, value and time. */
export interface RecordColumn<Row> {
  readonly title: string;
  readonly className?: string;
  readonly cell: (row: Row) => ReactNode;
}

/** The maximum number of rows to render. */
const MOST_ROWS = 500;

function text(value: unknown, cut: boolean | undefined): string {
  return cut === true ? `${value}…` : valueText(value);
}

/** A key or, wider, a value. They share the width that the other columns leave; what does not fit is cut off. */
export function Cell({ text, wide }: { text: string; wide?: boolean }) {
  return (
    <td className={`${wide ? classes.wide : ""} ${classes.cell} m-mono`} title={text}>
      {text}
    </td>
  );
}

/** Records with key, value and time: of a simulation, or of a running deployment. */
export function RecordTable<Row extends ListedRecord>(props: {
  rows: readonly Row[];
  before?: readonly RecordColumn<Row>[];
  after?: readonly RecordColumn<Row>[];
}) {
  const { after = [], before = [], rows } = props;
  const cells = (columns: readonly RecordColumn<Row>[], row: Row) =>
    columns.map((column) => (
      <td key={column.title} className={column.className}>
        {column.cell(row)}
      </td>
    ));
  const heads = (columns: readonly RecordColumn<Row>[]) =>
    columns.map((column) => (
      <th key={column.title} className={column.className}>
        {column.title}
      </th>
    ));
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          {heads(before)}
          <th>{t("Key")}</th>
          <th>{t("Value")}</th>
          <th>{t("Time")}</th>
          {heads(after)}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, MOST_ROWS).map((row) => (
          <tr key={row.id}>
            {cells(before, row)}
            <Cell text={text(row.key, row.key_cut)} />
            <Cell wide text={text(row.value, row.value_cut)} />
            <td>
              <Time at={row.timestamp} />
            </td>
            {cells(after, row)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
