import { Autocomplete, Select } from "@mantine/core";
import { useMemo } from "react";
import { at } from "../../problems/places";
import { type Phrase, phrase, t } from "../../ui/i18n";
import { asText, type WidgetProps } from "./widget";

/** The calendar units of tumbling windows, and their usual length in ms. */
export const CALENDAR_UNITS: Readonly<Record<string, { title: Phrase; length: number }>> = {
  day: { title: phrase("Day"), length: 86_400_000 },
  week: { title: phrase("Week, from Monday"), length: 604_800_000 },
  month: { title: phrase("Month"), length: 2_592_000_000 },
  quarter: { title: phrase("Quarter"), length: 7_776_000_000 },
  year: { title: phrase("Year"), length: 31_536_000_000 },
};

/** The most zones to suggest at once. */
const SUGGESTED = 30;

/** The calendar unit of a window; none if it has a size. */
export function UnitWidget({ labelId, onChange, onDone, readOnly, value }: WidgetProps) {
  const chosen = asText(value);
  const data = Object.entries(CALENDAR_UNITS).map(([value, { title }]) => ({
    value,
    label: t(title),
  }));
  const unknown = chosen !== "" && CALENDAR_UNITS[chosen] === undefined;
  return (
    <Select
      data={unknown ? [...data, { value: chosen, label: chosen }] : data}
      value={chosen === "" ? null : chosen}
      placeholder={t("None: by size")}
      clearable
      readOnly={readOnly}
      error={unknown}
      aria-labelledby={labelId}
      onChange={(next) => {
        onChange(next ?? undefined);
        onDone();
      }}
    />
  );
}

/** A name of the IANA time zone database, with those that the browser knows as suggestions. */
export function TimeZoneWidget(props: WidgetProps) {
  const { diagnostics, labelId, onChange, onDone, path, readOnly, value } = props;
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  return (
    <Autocomplete
      data={zones}
      limit={SUGGESTED}
      value={asText(value)}
      placeholder="UTC"
      readOnly={readOnly}
      error={at(diagnostics, path).length > 0}
      aria-labelledby={labelId}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      onBlur={onDone}
    />
  );
}
