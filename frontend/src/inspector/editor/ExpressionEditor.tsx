import { autocompletion } from "@codemirror/autocomplete";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { tooltips } from "@codemirror/view";
import { useRef } from "react";
import type { Diagnostic } from "../../api/types";
import { useDesigner } from "../../designer/store";
import type { CatalogFunction } from "../../graph/catalog";
import { parametersOf, placeOf } from "../../graph/parameters";
import { isMissing } from "../../problems/places";
import type { Column } from "../columns";
import { baseExtensions } from "./base";
import { completions, type Place, typeOnHover } from "./complete";
import { useEditor } from "./useEditor";

const SPARK = SQLDialect.define({
  keywords:
    "and or not in is null like rlike ilike between case when then else end cast try_cast as interval div distinct from",
  types:
    "string int integer bigint long smallint tinyint double float decimal boolean timestamp date binary array map struct",
  operatorChars: "*+-%<>!=&|~^/:?",
  identifierQuotes: "`",
  doubleQuotedStrings: true,
});

/** The texts that stand for the parameters of the open topology. */
function places(): readonly Place[] {
  return parametersOf(useDesigner.getState().document).map(([name, each]) => ({
    text: placeOf(name),
    type: each.type,
    value: String(each.default),
  }));
}

/** An editor for one Spark SQL expression. */
export default function ExpressionEditor(props: {
  value: string;
  columns: readonly Column[];
  functions: readonly CatalogFunction[];
  diagnostics: readonly Diagnostic[];
  labelId: string;
  readOnly: boolean;
  placeholder: string;
  onChange: (text: string) => void;
  onDone: () => void;
}) {
  const { diagnostics, labelId, onChange, readOnly, value } = props;
  const latest = useRef(props);
  latest.current = props;
  const { box } = useEditor(
    value,
    diagnostics,
    (changed) => [
      sql({ dialect: SPARK }),
      autocompletion({
        icons: false,
        override: [
          (context) =>
            completions(latest.current.columns, latest.current.functions, places())(context),
        ],
      }),
      typeOnHover(
        () => latest.current.columns,
        () => latest.current.functions,
      ),
      tooltips({ parent: document.body }),
      baseExtensions({
        labelId,
        readOnly,
        placeholder: latest.current.placeholder,
        onChange: changed,
        onDone: () => latest.current.onDone(),
      }),
    ],
    onChange,
  );
  return (
    <div
      className="editor"
      ref={box}
      data-error={
        diagnostics.some((each) => each.severity === "error" && !isMissing(each)) || undefined
      }
      data-readonly={readOnly || undefined}
    />
  );
}
