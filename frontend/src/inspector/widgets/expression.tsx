import { lazy, Suspense, useMemo } from "react";
import { useDesigner } from "../../designer/store";
import { t } from "../../ui/i18n";
import { columnsOf } from "../columns";
import { at } from "../problems";
import { asText, type WidgetProps } from "./widget";

const ExpressionEditor = lazy(() => import("../editor/ExpressionEditor"));

/** What the editor looks like while it loads: the same text in the same place. */
function Waiting({ text }: { text: string }) {
  return <pre className="editor editor-waiting">{text || " "}</pre>;
}

/** A Spark SQL expression: columns in reach, functions, errors under the exact characters. */
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
  const functions = useDesigner((state) => state.catalog?.functions);
  const formats = useDesigner((state) => state.catalog?.formats);
  const reach = context ?? parameter.expression?.columns ?? "record";
  const columns = useMemo(
    () => (node === null ? [] : columnsOf(reach, node, document, result, formats, port)),
    [node, document, result, reach, formats, port],
  );
  const text = asText(value);
  const here = at(diagnostics, path);
  return (
    <Suspense fallback={<Waiting text={text} />}>
      <ExpressionEditor
        value={text}
        columns={columns}
        functions={functions ?? []}
        diagnostics={here}
        labelId={labelId}
        readOnly={readOnly}
        placeholder={props.placeholder ?? t("Spark SQL")}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        onDone={onDone}
      />
    </Suspense>
  );
}
