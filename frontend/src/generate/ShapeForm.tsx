import { NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { durationText, milliseconds } from "../graph/durations";
import { type Phrase, phrase, t } from "../ui/i18n";
import classes from "./generate.module.css";
import { pathsOf, type Shape, type Target } from "./recipe";

const NUMBERS = ["keys", "skew", "late", "lateBy", "nulls", "malformed", "seed"] as const;
const LABELS: Readonly<Record<(typeof NUMBERS)[number], Phrase>> = {
  keys: phrase("Distinct keys"),
  skew: phrase("Key skew (Zipf)"),
  late: phrase("Late (%)"),
  lateBy: phrase("Late by up to"),
  nulls: phrase("Null values (%)"),
  malformed: phrase("Malformed values (%)"),
  seed: phrase("Seed"),
};
const MOST: Readonly<Record<(typeof NUMBERS)[number], number>> = {
  keys: 1_000_000,
  skew: 5,
  late: 100,
  lateBy: 864_000_000,
  nulls: 100,
  malformed: 100,
  seed: 1_000_000,
};

/** The shape of generated records: shares, and a rule for each field of the schema. */
export function ShapeForm(props: {
  target: Target | null;
  shape: Shape;
  onChange: (shape: Shape) => void;
}) {
  const { onChange, shape, target } = props;
  const paths = target === null ? [] : pathsOf(target);
  return (
    <>
      <div className={classes.form}>
        {NUMBERS.map((field) =>
          field === "lateBy" ? (
            <DurationInput
              key={field}
              label={t(LABELS[field])}
              most={MOST[field]}
              value={shape[field]}
              onChange={(value) => onChange({ ...shape, [field]: value })}
            />
          ) : (
            <NumberField
              key={field}
              label={t(LABELS[field])}
              least={field === "keys" ? 1 : 0}
              most={MOST[field]}
              decimals={field !== "keys" && field !== "seed"}
              value={shape[field]}
              onChange={(value) => onChange({ ...shape, [field]: value })}
            />
          ),
        )}
      </div>
      {paths.length === 0 ? null : (
        <fieldset className={classes.rules}>
          <legend>{t("Fields")}</legend>
          <p className={classes.hint}>
            {t({
              id: "generate.list_tea_rice_range",
              message:
                "A list: tea, rice. A range: 1..5. Text with a range: customer-1..50. Text with the number of the key: order-#.",
            })}
          </p>
          {paths.map((path) => (
            <TextInput
              key={path}
              label={path}
              placeholder={
                shape.kept?.[path] === undefined
                  ? t("any value of its type")
                  : t("as the template defines it")
              }
              value={shape.rules[path] ?? ""}
              spellCheck={false}
              classNames={{ root: classes.rule, label: "m-mono", input: "m-mono" }}
              onChange={(event) =>
                onChange({
                  ...shape,
                  rules: { ...shape.rules, [path]: event.currentTarget.value },
                })
              }
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

/** An input for a number within limits. */
export function NumberField(props: {
  label: string;
  least: number;
  most: number;
  decimals?: boolean;
  value: number;
  onChange: (value: number) => void;
}) {
  return (
    <NumberInput
      label={props.label}
      value={props.value}
      min={props.least}
      max={props.most}
      clampBehavior="strict"
      allowDecimal={props.decimals === true}
      onChange={(value) => props.onChange(typeof value === "number" ? value : props.least)}
    />
  );
}

/** An input for a duration as text; its value is NaN while the text is not a duration. */
export function DurationInput(props: {
  label: string;
  most: number;
  value: number;
  onChange: (value: number) => void;
}) {
  const { label, most, onChange, value } = props;
  const [text, setText] = useState(durationText(value));
  return (
    <TextInput
      label={label}
      value={text}
      error={
        Number.isNaN(value)
          ? t("A duration such as 5 minutes, up to {most}", { most: durationText(most) })
          : null
      }
      onChange={(event) => {
        setText(event.currentTarget.value);
        const read = milliseconds(event.currentTarget.value);
        onChange(read === null || read < 0 || read > most ? Number.NaN : read);
      }}
    />
  );
}
