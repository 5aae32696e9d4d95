import { Suspense, useMemo, useState } from "react";
import { useDesigner } from "../../designer/store";
import { readType } from "../../graph/types";
import { at } from "../../problems/places";
import { Held } from "../../ui/Held";
import { later } from "../../ui/later";
import { columnsOf } from "../columns";
import { ExpressionField } from "./expressionField";
import { asText, type WidgetProps } from "./widget";

const TriedValues = later(async () => (await import("../TriedValues")).TriedValues);
const StructExpression = later(async () => (await import("./structRows")).StructExpression);

/** Parameters whose expression makes the value of a record. */
const VALUES = ["value", "joiner"];

/** The expression of a parameter, with the columns that are available to its node. */
export function ExpressionWidget(
  props: WidgetProps & {
    context?: string | undefined;
    port?: string | undefined;
    placeholder?: string;
  },
) {
  const {
    context,
    diagnostics,
    labelId,
    node,
    onChange,
    onDone,
    parameter,
    path,
    port,
    readOnly,
    value,
  } = props;
  const document = useDesigner((state) => state.document);
  const result = useDesigner((state) => state.result);
  const formats = useDesigner((state) => state.catalog?.formats);
  const reach = context ?? parameter.expression?.columns ?? "record";
  const columns = useMemo(
    () => (node === null ? [] : columnsOf(reach, node, document, result, formats, port)),
    [node, document, result, reach, formats, port],
  );
  const [focused, setFocused] = useState(false);
  const tried = reach === "record" || reach === "row";
  const given = node === null ? undefined : result?.ports[node.id]?.out?.value;
  const makes = VALUES.includes(parameter.name);
  const type = useMemo(
    () => (makes && given !== undefined && given !== "?" ? readType(given) : null),
    [makes, given],
  );
  const parts = {
    text: asText(value),
    columns,
    diagnostics: at(diagnostics, path),
    labelId,
    readOnly,
    placeholder: props.placeholder,
    onChange: (next: string) => onChange(next === "" ? undefined : next),
    onDone,
  };
  const field =
    makes || /^\s*(named_)?struct\s*\(/i.test(parts.text) ? (
      <Suspense fallback={<ExpressionField {...parts} />}>
        <StructExpression {...parts} type={type} offered={makes} />
      </Suspense>
    ) : (
      <ExpressionField {...parts} />
    );
  if (!tried || node === null || readOnly) return field;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices the focus of the editor
    <div onFocus={() => setFocused(true)}>
      {field}
      <Held>
        {focused ? (
          <Suspense>
            <TriedValues
              node={node}
              text={asText(value)}
              port={reach === "row" ? "left" : port}
              wrong={at(diagnostics, path).some(({ severity }) => severity === "error")}
            />
          </Suspense>
        ) : null}
      </Held>
    </div>
  );
}
