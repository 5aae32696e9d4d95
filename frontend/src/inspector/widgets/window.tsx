import { Select } from "@mantine/core";
import type { ReactNode } from "react";
import { asObject, type Json } from "../../graph/document";
import { at } from "../../problems/places";
import { type Phrase, phrase, t } from "../../ui/i18n";
import { TimeZoneWidget, UnitWidget } from "./calendar";
import { CodeWidget } from "./code";
import { PartField } from "./PartField";
import { DurationWidget, NumberWidget } from "./simple";
import { WindowPicture } from "./WindowPicture";
import { asText, type WidgetProps, withPart } from "./widget";
import { PARTS, type Part, shownParts } from "./windowParts";

const TITLES: Readonly<Record<string, Phrase>> = {
  tumbling: phrase("Tumbling"),
  hopping: phrase("Hopping"),
  sliding: phrase("Sliding"),
  session: phrase("Session"),
  unlimited: phrase("Unlimited"),
  custom: phrase("Custom"),
};

const PART_TITLES: Readonly<Record<Part, Phrase>> = {
  code: phrase("Function in Python"),
  size: phrase("Size"),
  unit: phrase("Calendar unit"),
  time_zone: phrase("Time zone"),
  offset: phrase("Offset"),
  advance: phrase("Advance"),
  grace: phrase("Grace"),
  difference: phrase("Time difference"),
  gap: phrase("Gap"),
  start: phrase("Start"),
};

const PART_HELP: Readonly<Record<Part, Phrase>> = {
  code: phrase({
    id: "inspector.function_of_windows",
    message: "Takes a timestamp in ms and returns windows as pairs of start and end",
  }),
  size: phrase("Length of a window"),
  unit: phrase({
    id: "inspector.days_weeks_and_so_on_of_time",
    message: "Days, weeks and so on of a time zone, instead of windows of one size",
  }),
  time_zone: phrase("Its clock decides when days begin and how long they are"),
  offset: phrase({
    id: "inspector.how_much_later_windows",
    message:
      "How much later windows start: after midnight or, with a size, after multiples of the size in UTC",
  }),
  advance: phrase("Time between the starts of two windows"),
  grace: phrase("How late a record may be, in stream time, to be counted"),
  difference: phrase({
    id: "inspector.largest_difference_between_timestamps",
    message: "Largest difference between the timestamps of a window's records",
  }),
  gap: phrase("Time without records after which a session ends"),
  start: phrase("Earlier records are not counted; epoch milliseconds"),
};

/** Parts that are 0 if they are not given. */
const ZERO: readonly Part[] = ["offset", "grace", "start"];

const WIDGETS: Partial<Record<Part, (props: WidgetProps) => ReactNode>> = {
  code: CodeWidget,
  start: NumberWidget,
  unit: UnitWidget,
  time_zone: TimeZoneWidget,
};

/** Windows of an hour: what a custom window begins with. */
const HOURS = `HOUR = 3_600_000


def windows(timestamp):
    start = timestamp // HOUR * HOUR
    return [(start, start + HOUR)]
`;

const STARTING: Readonly<Record<string, Record<string, string | number>>> = {
  tumbling: { size: "1 minute" },
  hopping: { size: "10 minutes", advance: "1 minute" },
  sliding: { difference: "1 minute" },
  session: { gap: "5 minutes" },
  unlimited: {},
  custom: { code: HOURS, size: "1 hour" },
};

/** The window with another unit: a calendar unit replaces the size, and a size the calendar unit. */
function withUnit(window: Readonly<Record<string, Json>>, unit: Json | undefined): Json {
  const { size, time_zone, unit: _old, ...others } = window;
  if (unit === undefined) return { ...others, size: size ?? "1 day" };
  return { ...others, unit, time_zone: time_zone ?? "UTC" };
}

/** The window of an aggregation, with a picture of the records that each window contains. */
export function WindowWidget(props: WidgetProps) {
  const { diagnostics, labelId, onChange, onDone, path, readOnly, value } = props;
  const now = asObject(value);
  const type = asText(now.type);
  const parts = shownParts(now);
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
            const Widget = WIDGETS[part] ?? DurationWidget;
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
                      default: ZERO.includes(part) ? 0 : null,
                    }}
                    labelId={id}
                    path={`${path}.${part}`}
                    value={now[part]}
                    onChange={(next) =>
                      onChange(part === "unit" ? withUnit(now, next) : withPart(value, part, next))
                    }
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
