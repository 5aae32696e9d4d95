import { lazy, Suspense, useMemo, useState } from "react";
import type { Diagnostic } from "../../api/types";
import { useDesigner } from "../../designer/store";
import { at } from "../../problems/places";
import { t } from "../../ui/i18n";
import { later } from "../../ui/later";
import { patiently } from "../../ui/reach";
import { type Column, columnsOf } from "../columns";
import { asText, type WidgetProps } from "./widget";

const ExpressionEditor = lazy(() => patiently(() => import("../editor/ExpressionEditor")));

const TriedValues = later(async () => (await import("../TriedValues")).TriedValues);

/** Shows the text in the place of the editor while that loads. */
function Waiting({ text }: { text: string }) {
  return <pre className="editor editor-waiting">{text || " "}</pre>;
}

/** A Spark SQL expression over columns, with completion and errors under the exact characters. */
export function ExpressionField(props: {
  text: string;
  columns: readonly Column[];
  diagnostics: readonly Diagnostic[];
  labelId: string;
  readOnly: boolean;
  placeholder?: string | undefined;
  onChange: (text: string) => void;
  onDone: () => void;
}) {
  const { placeholder = t("Spark SQL"), text, ...more } = props;
  const functions = useDesigner((state) => state.catalog?.functions);
  return (
    <Suspense fallback={<Waiting text={text} />}>
      <ExpressionEditor
        {...more}
        value={text}
        functions={functions ?? []}
        placeholder={placeholder}
      />
    </Suspense>
  );
}

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
  const field = (
    <ExpressionField
      text={asText(value)}
      columns={columns}
      diagnostics={at(diagnostics, path)}
      labelId={labelId}
      readOnly={readOnly}
      placeholder={props.placeholder}
      onChange={(next) => onChange(next === "" ? undefined : next)}
      onDone={onDone}
    />
  );
  if (!tried || node === null || readOnly) return field;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices the focus of the editor
    <div onFocus={() => setFocused(true)}>
      {field}
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
    </div>
  );
}
