import { ActionIcon, Button, NumberInput, Select } from "@mantine/core";
import IconX from "@tabler/icons-react/dist/esm/icons/IconX.mjs";
import { useId } from "react";
import type { CheckedCondition } from "../api/types";
import { readType } from "../graph/types";
import { FieldProblems } from "../inspector/Field";
import { ExpressionField } from "../inspector/widgets/expressionField";
import "../inspector/fields.css";
import { Tip } from "../ui";
import { phrase, t } from "../ui/i18n";
import { keyOf, newCondition, type Place, type Typed } from "./conditions";
import classes from "./conditions.module.css";

const RECORDS = {
  topic: { every: phrase("every record"), any: phrase("at least one record") },
  store: { every: phrase("every row"), any: phrase("at least one row") },
} as const;

/** Conditions of a test: an expression, and the records of a topic or rows of a store for which it must be true. */
export function Conditions(props: {
  places: readonly Place[];
  typed: readonly Typed[];
  checked: ReadonlyMap<number, CheckedCondition>;
  onChange: (typed: readonly Typed[]) => void;
}) {
  const { checked, onChange, places, typed } = props;
  const first = places[0];
  const names = new Map(places.map((place) => [keyOf(place), place.name]));
  for (const { place } of typed)
    if (!names.has(place)) names.set(place, place.slice(place.indexOf(":") + 1));
  const group = (kind: Place["kind"]) =>
    [...names]
      .filter(([value]) => value.startsWith(`${kind}:`))
      .map(([value, label]) => ({ value, label }));
  const data = [
    { group: t("Topics"), items: group("topic") },
    { group: t("Stores"), items: group("store") },
  ].filter(({ items }) => items.length > 0);
  return (
    <div className={classes.conditions} data-testid="conditions">
      {typed.map((condition) => (
        <Row
          key={condition.id}
          condition={condition}
          checked={checked.get(condition.id)}
          data={data}
          onChange={(changed) =>
            onChange(typed.map((each) => (each.id === changed.id ? changed : each)))
          }
          onRemove={() => onChange(typed.filter((each) => each.id !== condition.id))}
        />
      ))}
      <Button
        variant="subtle"
        className={classes.add}
        disabled={first === undefined}
        onClick={() =>
          first === undefined ? null : onChange([...typed, newCondition(keyOf(first))])
        }
      >
        {t("Add a condition")}
      </Button>
    </div>
  );
}

function Row(props: {
  condition: Typed;
  checked: CheckedCondition | undefined;
  data: { group: string; items: { value: string; label: string }[] }[];
  onChange: (condition: Typed) => void;
  onRemove: () => void;
}) {
  const { checked, condition, data, onChange, onRemove } = props;
  const label = useId();
  const columns = Object.entries(checked?.columns ?? {}).map(([name, type]) => ({
    name,
    type: type === "?" ? null : readType(type),
  }));
  const words = RECORDS[condition.place.startsWith("store:") ? "store" : "topic"];
  const empty = condition.predicate.trim() === "";
  const faults = (checked?.diagnostics ?? []).filter(
    (each) => !(empty && each.path?.endsWith(".predicate")),
  );
  return (
    <div className={classes.condition} data-condition={condition.place}>
      <div className={classes.head}>
        <Select
          aria-label={t("Topic or store")}
          data={data}
          value={condition.place}
          allowDeselect={false}
          onChange={(place) => onChange({ ...condition, place: place ?? condition.place })}
        />
        <Select
          aria-label={t("For which records")}
          data={[
            { value: "every", label: t(words.every) },
            { value: "any", label: t(words.any) },
            { value: "count", label: t("exactly") },
          ]}
          value={condition.records}
          allowDeselect={false}
          onChange={(records) =>
            onChange({ ...condition, records: (records ?? "every") as Typed["records"] })
          }
        />
        {condition.records === "count" ? (
          <NumberInput
            aria-label={t("Number of records")}
            min={0}
            allowDecimal={false}
            value={condition.count}
            onChange={(count) => onChange({ ...condition, count: Number(count) || 0 })}
          />
        ) : (
          <span />
        )}
        <Tip text={t("Remove the condition")}>
          <ActionIcon variant="subtle" aria-label={t("Remove the condition")} onClick={onRemove}>
            <IconX size={16} stroke={1.5} />
          </ActionIcon>
        </Tip>
      </div>
      <span id={label} className={classes.hidden}>
        {t("Expression")}
      </span>
      <ExpressionField
        text={condition.predicate}
        columns={columns}
        diagnostics={faults.filter((each) => each.path?.endsWith(".predicate"))}
        labelId={label}
        readOnly={false}
        placeholder={t("Spark SQL that is true or false, such as value.total > 0")}
        onChange={(predicate) => onChange({ ...condition, predicate })}
        onDone={() => undefined}
      />
      <FieldProblems diagnostics={faults} fixes={false} />
    </div>
  );
}
