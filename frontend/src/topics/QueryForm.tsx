import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { type FormEvent, type ReactNode, useState } from "react";
import type { TopicUse } from "../api/types";
import { hasSchema, needsSchema } from "../generate/recipe";
import { SchemaFields } from "../generate/SchemaFields";
import { DateTimeInput } from "../ui/DateTimeInput";
import { briefTime } from "../ui/format";
import { t } from "../ui/i18n";
import { readTime } from "../ui/readTime";
import {
  COMPARES,
  type Compare,
  FORMATS,
  KEY_FORMATS,
  type PartFormat,
  type Question,
  readerOf,
  STARTS,
  type Start,
} from "./records";
import classes from "./topics.module.css";

/** Start position, formats and filter. Choices apply at once, text when Enter is pressed. */
export function QueryForm(props: {
  question: Question;
  partitions: number;
  uses: readonly TopicUse[];
  onAsk: (question: Question) => void;
  right: ReactNode;
}) {
  const { question, onAsk } = props;
  const [typed, setTyped] = useState(question);
  const [time, setTime] = useState(briefTime(question.time));
  const type = (change: Partial<Question>) => setTyped({ ...typed, ...change });
  const choose = (change: Partial<Question>) => onAsk({ ...typed, ...change });
  // A format that needs a schema is not requested until the schema has been entered.
  const chooseFormat = (part: "key" | "value", name: string | null) => {
    const format = { format: (name ?? "auto") as PartFormat["format"] };
    if (hasSchema(format)) choose({ [part]: format });
    else type({ [part]: format });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAsk(typed);
  };
  const parts = typed.reader === "" ? (["key", "value"] as const) : [];
  const schemas = parts.filter((part) => needsSchema(typed[part]));
  const formats = { key: KEY_FORMATS, value: FORMATS };
  return (
    <form className={classes.query} onSubmit={submit}>
      <Select
        label={t("Start")}
        value={typed.start}
        onChange={(value) => {
          const start = (value ?? "latest") as Start;
          const at = start === "time" && typed.time === 0 ? Date.now() - 3_600_000 : typed.time;
          setTime(briefTime(at));
          choose({ start, time: at });
        }}
        data={STARTS.map((each) => ({ value: each.id, label: t(each.title) }))}
        w={160}
        data-testid="start"
      />
      {typed.start === "offset" ? (
        <NumberInput
          label={t("Offset")}
          value={typed.offset}
          onChange={(value) => type({ offset: Math.max(Number(value) || 0, 0) })}
          onBlur={() => onAsk(typed)}
          min={0}
          allowDecimal={false}
          hideControls
          w={120}
        />
      ) : null}
      {typed.start === "time" ? (
        <DateTimeInput
          label={t("Time")}
          value={time}
          onChange={setTime}
          onDone={(text) => {
            const read = readTime(text);
            if (read !== null) choose({ time: read });
          }}
          w={200}
        />
      ) : null}
      <Select
        label={t("Partition")}
        value={typed.partition === null ? "" : String(typed.partition)}
        onChange={(value) => choose({ partition: value ? Number(value) : null })}
        data={[
          { value: "", label: t("All") },
          ...Array.from({ length: props.partitions }, (_, n) => String(n)),
        ]}
        w={90}
      />
      {props.uses.length === 0 ? null : (
        <Select
          label={t("Read as")}
          value={typed.reader}
          onChange={(reader) => choose({ reader: reader ?? "" })}
          data={[
            { value: "", label: t("Formats chosen here") },
            ...props.uses.map((use) => ({
              value: readerOf(use),
              label: `${use.name} · ${use.node}`,
            })),
          ]}
          w={190}
          data-testid="reader"
        />
      )}
      {(["key", "value"] as const).map((part) => (
        <Select
          key={part}
          label={part === "key" ? t("Key as") : t("Value as")}
          disabled={typed.reader !== ""}
          value={typed[part].format}
          onChange={(name) => chooseFormat(part, name)}
          data={formats[part].map((each) => ({ value: each.value, label: t(each.label) }))}
          w={120}
          data-testid={`${part}-format`}
        />
      ))}
      <TextInput
        label={t("Contains")}
        placeholder={t("Text in key or value")}
        leftSection={<IconSearch size={16} stroke={1.5} />}
        value={typed.contains}
        onChange={(event) => type({ contains: event.currentTarget.value })}
        w={180}
        data-testid="contains"
      />
      <span className={classes.condition}>
        <TextInput
          label={t("Field")}
          placeholder="value.customer.id"
          value={typed.field}
          onChange={(event) => type({ field: event.currentTarget.value.trim() })}
          w={150}
          data-testid="field"
        />
        <Select
          label={t("Comparison")}
          value={typed.compare}
          onChange={(compare) => type({ compare: (compare ?? "equals") as Compare })}
          data={[
            ...COMPARES.map((each) => ({ value: each.value, label: each.label })),
            { value: "contains", label: t("contains") },
          ]}
          disabled={typed.field === ""}
          w={84}
          data-testid="compare"
        />
        <TextInput
          label={t("Compared with")}
          value={typed.equals}
          onChange={(event) => type({ equals: event.currentTarget.value })}
          disabled={typed.field === ""}
          w={110}
          data-testid="equals"
        />
      </span>
      <TextInput
        label={t("Expression")}
        placeholder="value.amount > 100"
        title={t({
          id: "topics.spark_sql_expression_over",
          message:
            "A Spark SQL expression over key, value, timestamp, headers, topic, partition and offset, with the types of “Read as”; without it, text and JSON are STRING.",
        })}
        value={typed.where}
        onChange={(event) => type({ where: event.currentTarget.value })}
        className={classes.expression}
        classNames={{ input: "m-mono" }}
        data-testid="where"
      />
      <Button type="submit" data-testid="filter">
        {t("Filter")}
      </Button>
      <span className={classes.queryEnd}>{props.right}</span>
      {schemas.length === 0 ? null : (
        <div className={classes.schemas}>
          {schemas.map((part) => (
            <div key={part}>
              <SchemaFields
                part={part}
                format={typed[part]}
                onChange={(format) => type({ [part]: format })}
              />
            </div>
          ))}
        </div>
      )}
    </form>
  );
}
