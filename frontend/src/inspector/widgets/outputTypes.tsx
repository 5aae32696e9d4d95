import { asObject } from "../../graph/document";
import { t } from "../../ui/i18n";
import { PartField } from "./PartField";
import { TypeWidget } from "./simple";
import { type WidgetProps, withPart } from "./widget";

/** Key and value types of the records that a processor forwards; by default, those of its input. */
export function OutputTypesWidget(props: WidgetProps) {
  const { diagnostics, onChange, path, value } = props;
  return (
    <div className="parts">
      {(["key", "value"] as const).map((part) => (
        <PartField
          key={part}
          title={part === "key" ? t("Key type") : t("Value type")}
          path={`${path}.${part}`}
          diagnostics={diagnostics}
        >
          {(id) => (
            <TypeWidget
              {...props}
              parameter={{ ...props.parameter, default: t("as its input") }}
              labelId={id}
              path={`${path}.${part}`}
              value={asObject(value)[part]}
              onChange={(text) => {
                const next = withPart(value, part, text);
                onChange(Object.keys(asObject(next)).length === 0 ? undefined : next);
              }}
            />
          )}
        </PartField>
      ))}
    </div>
  );
}
