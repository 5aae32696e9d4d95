import { Select } from "@mantine/core";
import { at } from "../problems";
import { t } from "../texts";
import { PartField } from "./PartField";
import { DurationWidget, NumberWidget } from "./simple";
import { WindowPicture } from "./WindowPicture";
import { asObject, asText, type WidgetProps, withPart } from "./widget";

/** The parts of each type of window, as the topology document has them. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
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

/** The window of an aggregation, with a small picture of which records fall where. */
export function WindowWidget(props: WidgetProps) {
  const { diagnostics, labelId, onChange, onDone, path, readOnly, value } = props;
  const now = asObject(value);
  const type = asText(now.type);
  const parts = PARTS[type] ?? [];
  return (
    <div className="parts">
      <Select
        data={Object.keys(PARTS).map((name) => ({
          value: name,
          label: t(`window_${name}` as "window_tumbling"),
        }))}
        value={type === "" ? null : type}
        placeholder={t("noWindow")}
        clearable
        readOnly={readOnly}
        aria-labelledby={labelId}
        error={at(diagnostics, `${path}.type`).length > 0 || at(diagnostics, path).length > 0}
        onChange={(next) => {
          if (next === null) onChange(undefined);
          else {
            const takes = PARTS[next] ?? [];
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
                title={t(`window_part_${part}` as "window_part_size")}
                path={`${path}.${part}`}
                diagnostics={diagnostics}
                help={t(`window_help_${part}` as "window_help_size")}
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
