import { useDesigner } from "../../designer/store";
import { asObject } from "../../graph/document";
import { at } from "../../problems/places";
import { t } from "../../ui/i18n";
import { flowingInto } from "../columns";
import { FieldProblems } from "../Field";
import { ExpressionWidget } from "./expression";
import { PartField } from "./PartField";
import { asText, type WidgetProps, withPart } from "./widget";

/** The grouping of records: the new key and, for a table, the new value. */
export function GroupByWidget(props: WidgetProps & { port?: string; keyOnly?: boolean }) {
  const { diagnostics, keyOnly, node, onChange, path, port, value } = props;
  const role = useDesigner((state) =>
    node === null ? undefined : flowingInto(state.document, state.result, node.id, port)?.role,
  );
  const now = asObject(value);
  const table = keyOnly !== true && ((role ?? "").includes("table") || asText(now.value) !== "");
  const change = (name: "key" | "value", text: Parameters<typeof withPart>[2]) => {
    const next = withPart(value, name, text);
    onChange(Object.keys(asObject(next)).length === 0 ? undefined : next);
  };
  const key = (id: string) => (
    <ExpressionWidget
      {...props}
      labelId={id}
      context="record"
      port={port}
      value={now.key}
      path={`${path}.key`}
      placeholder={t("by the record’s own key")}
      onChange={(text) => change("key", text)}
    />
  );
  if (!table && keyOnly !== true) {
    return (
      <>
        {key(props.labelId)}
        <FieldProblems diagnostics={at(diagnostics, `${path}.key`)} />
      </>
    );
  }
  return (
    <div className="parts">
      <PartField
        title={keyOnly === true ? t("Group by") : t("Key")}
        path={`${path}.key`}
        diagnostics={diagnostics}
      >
        {key}
      </PartField>
      {table ? (
        <PartField title={t("Value")} path={`${path}.value`} diagnostics={diagnostics}>
          {(id) => (
            <ExpressionWidget
              {...props}
              labelId={id}
              context="record"
              port={port}
              value={now.value}
              path={`${path}.value`}
              placeholder="value"
              onChange={(text) => change("value", text)}
            />
          )}
        </PartField>
      ) : null}
    </div>
  );
}
