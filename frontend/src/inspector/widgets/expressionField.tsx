import { Suspense } from "react";
import type { Diagnostic } from "../../api/types";
import { useDesigner } from "../../designer/store";
import { t } from "../../ui/i18n";
import { part } from "../../ui/reach";
import type { Column } from "../columns";

const ExpressionEditor = part(async () => (await import("../editor/ExpressionEditor")).default);

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
