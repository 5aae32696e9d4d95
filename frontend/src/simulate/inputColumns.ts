/** The columns of the input records, as this browser shows them. */

import { create } from "zustand";
import { COLUMNS, type Column, type InputRow } from "./scenario";

const KEY = "millrace.inputs";
/** Columns that most records do not need. */
const MORE: ReadonlySet<Column> = new Set(["partition", "headers"]);
/** Pixels of the columns; those without take what is left. */
const WIDTHS: Readonly<Record<Column, string>> = {
  topic: "minmax(90px, 1fr)",
  key: "minmax(78px, 1fr)",
  value: "minmax(150px, 8fr)",
  timestamp: "182px",
  partition: "64px",
  headers: "minmax(72px, 1fr)",
};

interface InputColumns {
  /** Whether partition and headers are shown, also if no record has any. */
  readonly more: boolean;
  /** Width of the key in pixels; null: a small part of what is left. */
  readonly key: number | null;
}

function load(): Partial<InputColumns> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export const useInputColumns = create<InputColumns>()(() => ({
  more: false,
  key: null,
  ...load(),
}));

useInputColumns.subscribe((state) => {
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    // Without storage, the columns last until the page is closed.
  }
});

export const [NARROWEST, WIDEST] = [60, 600];

/** Sets the width of the key. */
export function widenKey(width: number): void {
  useInputColumns.setState({ key: Math.round(Math.min(WIDEST, Math.max(NARROWEST, width))) });
}

/** The columns that are shown: those of every record, and others that are wanted or filled in. */
export function columnsOf(rows: readonly InputRow[], more: boolean): readonly Column[] {
  const used = more || rows.some(({ partition, headers }) => partition !== "" || headers !== "");
  return used ? COLUMNS : COLUMNS.filter((column) => !MORE.has(column));
}

export function templateOf(columns: readonly Column[], key: number | null): string {
  const widths = columns.map((column) =>
    column === "key" && key !== null ? `${key}px` : WIDTHS[column],
  );
  return `46px ${widths.join(" ")} 28px`;
}
