import { Autocomplete, Button, Select, Textarea, TextInput } from "@mantine/core";
import { Suspense, useState } from "react";
import { useDesigner } from "../../designer/store";
import { asObject } from "../../graph/document";
import { readSchema } from "../../graph/structs";
import { at } from "../../problems/places";
import { type Phrase, phrase, t } from "../../ui/i18n";
import { later } from "../../ui/later";
import { PartField } from "./PartField";
import { asText, type WidgetProps, withPart } from "./widget";

const SchemaRows = later(async () => (await import("./structRows")).SchemaRows);
const SchemaDialog = later(async () => (await import("../SchemaDialog")).SchemaDialog);

const PART_TITLES: Readonly<Record<string, Phrase>> = {
  schema: phrase("Schema"),
  registry: phrase("Schema registry"),
  subject: phrase("Subject"),
  inner: phrase("Inner format"),
  window_size: phrase("Window size"),
  message: phrase("Message"),
};

/** A schema as text or, if it has fields and is wanted so, as rows. */
function Schema(props: {
  rows: boolean;
  text: string;
  labelId: string;
  readOnly: boolean;
  placeholder: string;
  wrong: boolean;
  onChange: (text: string) => void;
  onDone: () => void;
  /** Buttons below. */
  end: React.ReactNode;
}) {
  const { end, labelId, onChange, onDone, placeholder, readOnly, rows, text, wrong } = props;
  const area = (
    <>
      <Textarea
        value={text}
        placeholder={placeholder}
        readOnly={readOnly}
        aria-labelledby={labelId}
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        classNames={{ input: "m-mono" }}
        error={wrong}
        onChange={(event) => onChange(event.currentTarget.value)}
        onBlur={onDone}
      />
      <div className="schema-asks">{end}</div>
    </>
  );
  if (!rows) return area;
  return (
    <Suspense fallback={area}>
      <SchemaRows
        text={text}
        readOnly={readOnly}
        otherwise={area}
        end={end}
        onChange={onChange}
        onDone={onDone}
      />
    </Suspense>
  );
}

/** The serialization format of keys or values, and their type. */
export function FormatWidget(props: WidgetProps) {
  const { diagnostics, labelId, node, onChange, onDone, parameter, path, readOnly, value } = props;
  const [asking, setAsking] = useState(false);
  const [asRows, setAsRows] = useState(false);
  const all = useDesigner((state) => state.catalog?.formats) ?? [];
  // A format with an inner one is for keys: it adds their window.
  const formats = all.filter((each) => path === "key" || !each.properties.includes("inner"));
  const inners = formats.filter((each) => each.type !== null || each.format === "json");
  const now = asObject(value);
  const name = asText(now.format);
  const entry = formats.find((each) => each.format === name);
  const given = Object.keys(now).filter((part) => part !== "format");
  const takes = (entry?.properties ?? []).filter(
    (part) => part !== "schema" || now.inner === undefined || now.inner === "json",
  );
  const parts = [...new Set([...takes, ...given])];
  const known = name === "" || formats.some((each) => each.format === name);
  return (
    <div className="parts">
      <Select
        data={[
          ...formats.map((each) => ({ value: each.format, label: each.title })),
          ...(known ? [] : [{ value: name, label: name }]),
        ]}
        value={name === "" ? null : name}
        placeholder={parameter.required ? t("Choose…") : t("The format that fits the type")}
        clearable={!parameter.required}
        readOnly={readOnly}
        aria-labelledby={labelId}
        error={at(diagnostics, `${path}.format`).length > 0}
        maxDropdownHeight={280}
        onChange={(next) => {
          if (next === null) onChange(undefined);
          else {
            const takes = formats.find((each) => each.format === next)?.properties ?? [];
            const kept = Object.fromEntries(
              Object.entries(now).filter(([part]) => takes.includes(part)),
            );
            onChange({ ...kept, format: next });
          }
          onDone();
        }}
      />
      {parts.map((part) => {
        const place = `${path}.${part}`;
        const title = PART_TITLES[part];
        const change = (text: string) =>
          onChange(withPart(value, part, text === "" ? undefined : text));
        return (
          <PartField
            key={part}
            title={title === undefined ? part : t(title)}
            path={place}
            diagnostics={diagnostics}
            help={
              part === "schema" ? t("Columns as “name TYPE, name TYPE”, or one Spark type") : ""
            }
          >
            {(id) =>
              part === "schema" ? (
                <>
                  <Schema
                    rows={asRows}
                    text={asText(now[part])}
                    labelId={id}
                    readOnly={readOnly}
                    placeholder={name === "json" ? "item STRING, quantity INT" : ""}
                    wrong={at(diagnostics, place).length > 0}
                    onChange={change}
                    onDone={onDone}
                    end={
                      <>
                        {readSchema(asText(now[part])) === null ? null : (
                          <Button
                            size="compact-xs"
                            variant="subtle"
                            className="schema-ask"
                            onClick={() => setAsRows(!asRows)}
                          >
                            {asRows ? t("As text") : t("As fields")}
                          </Button>
                        )}
                        {readOnly || (name !== "json" && now.inner !== "json") ? null : (
                          <Button
                            size="compact-xs"
                            variant="subtle"
                            className="schema-ask"
                            data-testid="schema-from-records"
                            onClick={() => setAsking(true)}
                          >
                            {t("From records…")}
                          </Button>
                        )}
                      </>
                    }
                  />
                  {asking ? (
                    <Suspense>
                      <SchemaDialog
                        node={node}
                        side={path === "key" ? "key" : "value"}
                        onClose={() => setAsking(false)}
                        onChoose={(schema) => {
                          change(schema);
                          onDone();
                        }}
                      />
                    </Suspense>
                  ) : null}
                </>
              ) : part === "inner" ? (
                <Select
                  data={inners.map((each) => ({ value: each.format, label: each.title }))}
                  value={asText(now[part]) || null}
                  placeholder={t("Choose…")}
                  readOnly={readOnly}
                  aria-labelledby={id}
                  error={at(diagnostics, place).length > 0}
                  onChange={(next) => {
                    change(next ?? "");
                    onDone();
                  }}
                />
              ) : part === "registry" ? (
                <Autocomplete
                  value={asText(now[part])}
                  data={[]}
                  placeholder="http://localhost:8081"
                  readOnly={readOnly}
                  aria-labelledby={id}
                  error={at(diagnostics, place).length > 0}
                  onChange={(text) => {
                    if (text !== asText(now[part])) change(text);
                  }}
                  onBlur={onDone}
                />
              ) : (
                <TextInput
                  value={asText(now[part])}
                  readOnly={readOnly}
                  aria-labelledby={id}
                  error={at(diagnostics, place).length > 0}
                  onChange={(event) => change(event.currentTarget.value)}
                  onBlur={onDone}
                />
              )
            }
          </PartField>
        );
      })}
    </div>
  );
}
