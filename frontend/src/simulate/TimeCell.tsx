import { type InputHTMLAttributes, useState } from "react";
import { dateTime, exactTime } from "../ui/format";
import { t } from "../ui/i18n";
import { timeOf } from "./scenario";

/** The epoch milliseconds that a cell shows as a date and time; null if it shows its text. */
function shownTime(text: string): number | null {
  if (text.trim() === "") return null;
  try {
    const at = timeOf(text);
    return at < 0 ? null : at;
  } catch {
    return null;
  }
}

/** The timestamp of an input, as a date and time in UTC; while it is edited, the text as typed. */
export function TimeCell(
  props: Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value"> & {
    /** Epoch milliseconds, or a text that a person typed. */
    value: string;
    onChange: (text: string) => void;
  },
) {
  const { onChange, value, ...rest } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const at = shownTime(value);
  // An undo while the cell has the focus replaces what was typed.
  const shown = typed === value || at === null ? value : dateTime(at);
  return (
    <input
      {...rest}
      value={shown}
      title={at === null ? t("A date and time in UTC, or epoch milliseconds") : exactTime(at)}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(event.currentTarget.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
