import { Textarea, TextInput } from "@mantine/core";
import { t } from "../ui/i18n";
import classes from "./generate.module.css";
import type { Format } from "./recipe";

/** The schema of an Avro or Protobuf format: typed, or from a registry, as in the designer. */
export function SchemaFields<F extends Format>(props: {
  part: "key" | "value";
  format: F;
  onChange: (format: F) => void;
}) {
  const { format, onChange, part } = props;
  const title = part === "key" ? t("Schema of the key") : t("Schema of the value");
  const change = (name: "schema" | "registry" | "subject", text: string) => {
    const { [name]: _, ...others } = format;
    onChange((text === "" ? others : { ...others, [name]: text }) as F);
  };
  return (
    <fieldset className={classes.schema} aria-label={title}>
      <Textarea
        label={title}
        placeholder={
          format.format === "avro" ? '{"type": "record", …}' : 'syntax = "proto3"; message …'
        }
        value={format.schema ?? ""}
        onChange={(event) => change("schema", event.currentTarget.value)}
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        classNames={{ root: classes.schemaText ?? "", input: "m-mono" }}
        data-testid={`${part}-schema`}
      />
      <TextInput
        label={t("Schema registry")}
        placeholder="http://localhost:8081"
        value={format.registry ?? ""}
        onChange={(event) => change("registry", event.currentTarget.value)}
        spellCheck={false}
        data-testid={`${part}-registry`}
      />
      <TextInput
        label={t("Subject")}
        value={format.subject ?? ""}
        onChange={(event) => change("subject", event.currentTarget.value)}
        spellCheck={false}
        data-testid={`${part}-subject`}
      />
    </fieldset>
  );
}
