/** Widgets for one plain value. */

import { Autocomplete, Select, Switch, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { choiceTitle } from "../../designer/localize";
import { useDesigner } from "../../designer/store";
import { durationText, milliseconds } from "../../graph/durations";
import { parametersOf, placeOf } from "../../graph/parameters";
import { at, isMissing } from "../../problems/places";
import { t } from "../../ui/i18n";
import { PLACES } from "../PlacesOfParameters";
import { asText, type WidgetProps } from "./widget";

function useWrong({ diagnostics, path }: WidgetProps): boolean {
  // A missing value is mentioned below the field, but not marked as an error.
  return at(diagnostics, path).some((each) => each.severity === "error" && !isMissing(each));
}

function defaultText(props: WidgetProps): string {
  const { default: fallback } = props.parameter;
  return fallback === null || fallback === undefined ? "" : asText(fallback);
}

/** Common props of single-line fields. */
export function useField(props: WidgetProps) {
  return {
    value: asText(props.value),
    placeholder: defaultText(props),
    readOnly: props.readOnly,
    "aria-labelledby": props.labelId,
    error: useWrong(props),
    onBlur: props.onDone,
  };
}

/** The id of the list of parameters that the browser offers in a field; undefined if there are none. */
function usePlaces(): string | undefined {
  return useDesigner((state) => (parametersOf(state.document).length > 0 ? PLACES : undefined));
}

export function TextWidget(props: WidgetProps) {
  const { onChange } = props;
  return (
    <TextInput
      {...useField(props)}
      list={usePlaces()}
      spellCheck={false}
      onChange={(event) => {
        const text = event.currentTarget.value;
        onChange(text === "" ? undefined : text);
      }}
    />
  );
}

/** A number field. Text that is not a number is stored unchanged. */
export function NumberWidget(props: WidgetProps) {
  const { onChange, parameter } = props;
  const places = usePlaces();
  return (
    <TextInput
      {...useField(props)}
      list={places}
      inputMode={places === undefined ? "numeric" : "text"}
      className="m-figures"
      rightSection={
        parameter.unit == null ? null : <span className="field-unit">{parameter.unit}</span>
      }
      rightSectionWidth={parameter.unit == null ? 0 : 56}
      onChange={(event) => {
        const text = event.currentTarget.value.trim();
        if (text === "") onChange(undefined);
        else onChange(/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : event.currentTarget.value);
      }}
    />
  );
}

const UNITS = ["ms", "seconds", "minutes", "hours", "days"];

function suggestions(text: string): string[] {
  const number = /^\s*(-?\d+)\s*([a-z]*)\s*$/i.exec(text);
  if (number === null) return text.trim() === "" ? ["1 second", "1 minute", "1 hour", "1 day"] : [];
  const [, amount = "1", unit = ""] = number;
  return UNITS.filter((name) => name.startsWith(unit.toLowerCase())).map((name) =>
    Number(amount) === 1 && name !== "ms" ? `${amount} ${name.slice(0, -1)}` : `${amount} ${name}`,
  );
}

/** A duration, typed as `5 minutes`, `1h` or a number of milliseconds, and stored in the document's form. */
export function DurationWidget(props: WidgetProps) {
  const { onChange, onDone, value } = props;
  const kept = typeof value === "number" ? durationText(value) : asText(value);
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? kept;
  const { default: fallback } = props.parameter;
  const parameters = useDesigner((state) => state.document.parameters);
  const data = useMemo(
    () =>
      shown.startsWith("$")
        ? Object.entries(parameters ?? {}).flatMap(([name, each]) =>
            each?.type === "duration" ? [placeOf(name)] : [],
          )
        : suggestions(shown),
    [parameters, shown],
  );
  return (
    <Autocomplete
      {...useField(props)}
      value={shown}
      data={data}
      filter={({ options }) => options}
      placeholder={
        typeof fallback === "number" ? durationText(fallback) : defaultText(props) || t("5 minutes")
      }
      className="m-figures"
      onChange={(text) => {
        if (text === shown) return;
        setTyped(text);
        const length = milliseconds(text);
        onChange(text === "" ? undefined : length === null ? text : durationText(length));
      }}
      onBlur={() => {
        setTyped(null);
        onDone();
      }}
    />
  );
}

export function BooleanWidget(props: WidgetProps) {
  const { labelId, onChange, onDone, parameter, readOnly, value } = props;
  const on = typeof value === "boolean" ? value : parameter.default === true;
  return (
    <Switch
      checked={on}
      disabled={readOnly}
      aria-labelledby={labelId}
      label={on ? t("Yes") : t("No")}
      onChange={(event) => {
        onChange(event.currentTarget.checked);
        onDone();
      }}
    />
  );
}

export function ChoiceWidget(props: WidgetProps) {
  const { labelId, onChange, onDone, parameter, readOnly, value } = props;
  const data = (parameter.choices ?? []).map((choice) => ({
    value: choice,
    label: choiceTitle(choice),
  }));
  const text = asText(value);
  const chosen = text === "" ? asText(parameter.default) : text;
  const unknown = chosen !== "" && !data.some((choice) => choice.value === chosen);
  return (
    <Select
      data={unknown ? [...data, { value: chosen, label: chosen }] : data}
      value={chosen === "" ? null : chosen}
      placeholder={t("Choose…")}
      readOnly={readOnly}
      aria-labelledby={labelId}
      error={useWrong(props)}
      onChange={(next) => {
        onChange(next ?? undefined);
        onDone();
      }}
    />
  );
}

export const TYPES = [
  "STRING",
  "INT",
  "BIGINT",
  "DOUBLE",
  "BOOLEAN",
  "TIMESTAMP",
  "BINARY",
  "DECIMAL(18,2)",
  "ARRAY<STRING>",
  "MAP<STRING, STRING>",
  "STRUCT<name: STRING>",
];

/** A Spark type, with suggestions of common ones. */
export function TypeWidget(props: WidgetProps) {
  const { onChange, value } = props;
  return (
    <Autocomplete
      {...useField(props)}
      data={TYPES}
      placeholder={defaultText(props) || t("for example BIGINT")}
      spellCheck={false}
      classNames={{ input: "m-mono" }}
      maxDropdownHeight={220}
      onChange={(text) => {
        if (text !== asText(value)) onChange(text === "" ? undefined : text);
      }}
    />
  );
}
