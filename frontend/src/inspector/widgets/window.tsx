import { Select } from "@mantine/core";
import { type Phrase, phrase, t } from "../../ui/i18n";
import { at } from "../problems";
import { PartField } from "./PartField";
import { DurationWidget, NumberWidget } from "./simple";
import { WindowPicture } from "./WindowPicture";
import { asObject, asText, type WidgetProps, withPart } from "./widget";

type Part = "size" | "advance" | "grace" | "difference" | "gap" | "start";

const TITLES: Readonly<Record<string, Phrase>> = {
  tumbling: phrase("Tumbling"),
  hopping: phrase("Hopping"),
  sliding: phrase("Sliding"),
  session: phrase("Session"),
  unlimited: phrase("Unlimited"),
};

const PART_TITLES: Readonly<Record<Part, Phrase>> = {
  size: phrase("Size"),
  advance: phrase("Advance"),
  grace: phrase("Grace"),
  difference: phrase("Time difference"),
  gap: phrase("Gap"),
  start: phrase("Start"),
};

const PART_HELP: Readonly<Record<Part, Phrase>> = {
  size: phrase("Length of a window"),
  advance: phrase("Time between the starts of two windows"),
  grace: phrase("How late a record may be, in stream time, to be counted"),
  difference: phrase("Largest difference between the timestamps of a window's records"),
  gap: phrase("Time without records after which a session ends"),
  start: phrase("Earlier records are not counted; epoch milliseconds"),
};

/** The parts of each type of window, named as in the topology document. */
const PARTS: Readonly<Record<string, readonly Part[]>> = {
  tumbling: ["size", "grace"],
  hopping: ["size", "advance", "grace"],
  sliding: ["difference", "grace"],
  session: ["gap", "grace"],
  unlimited: ["start"],
};

const STARTING: Readonly<Record<string, Record<string, string | number>>> = {
  tumbling: { size: "1 minute" },
  hopping: { size: "10 minutes", advance: "1 minute" },
  sliding: { difference: "1 minute" },
  session: { gap: "5 minutes" },
  unlimited: {},
};

/** The window of an aggregation, with a picture of the records that each window contains. */
export function WindowWidget(props: WidgetProps) {
  const { diagnostics, labelId, onChange, onDone, path, readOnly, value } = props;
  const now = asObject(value);
  const type = asText(now.type);
  const parts = PARTS[type] ?? [];
  return (
    <div className="parts">
      <Select
        data={Object.entries(TITLES).map(([value, title]) => ({ value, label: t(title) }))}
        value={type === "" ? null : type}
        placeholder={t("No window: over all time")}
        clearable
        readOnly={readOnly}
        aria-labelledby={labelId}
        error={at(diagnostics, `${path}.type`).length > 0 || at(diagnostics, path).length > 0}
        onChange={(next) => {
          if (next === null) onChange(undefined);
          else {
            const takes: readonly string[] = PARTS[next] ?? [];
            const kept = Object.entries(now).filter(([part]) => takes.includes(part));
            onChange({ type: next, ...STARTING[next], ...Object.fromEntries(kept) });
          }
          onDone();
        }}
      />
      {parts.length === 0 ? null : (
        <div className="part-grid">
          {parts.map((part) => {
            const Widget = part === "start" ? NumberWidget : DurationWidget;
            return (
              <PartField
                key={part}
                title={t(PART_TITLES[part])}
                path={`${path}.${part}`}
                diagnostics={diagnostics}
                help={t(PART_HELP[part])}
              >
                {(id) => (
                  <Widget
                    {...props}
                    parameter={{
                      ...props.parameter,
                      unit: part === "start" ? "ms" : null,
                      default: part === "grace" || part === "start" ? 0 : null,
                    }}
                    labelId={id}
                    path={`${path}.${part}`}
                    value={now[part]}
                    onChange={(next) => onChange(withPart(value, part, next))}
                  />
                )}
              </PartField>
            );
          })}
        </div>
      )}
      {type === "" ? null : <WindowPicture window={now} />}
    </div>
  );
}
