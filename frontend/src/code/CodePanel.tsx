import { Suspense } from "react";
import { useDesigner } from "../designer/store";
import { Loading } from "../frame/Loading";
import { Empty } from "../ui";
import { t } from "../ui/i18n";
import { part } from "../ui/reach";
import { useEditing } from "../versions/editing";
import { CodeActions } from "./CodeActions";
import classes from "./code.module.css";
import { useDialect } from "./dialect";
import { PlainCode } from "./PlainCode";

const CodeViewer = part(async () => (await import("./CodeViewer")).default);

/** The generated program beside the canvas. While the document has errors, the last valid program stays visible. */
export function CodePanel({ topology }: { topology: number }) {
  const { name, baseVersion, changed } = useEditing();
  const empty = useDesigner((state) => state.document.nodes.length === 0);
  if (empty) {
    return (
      <Empty title={t("No code yet")}>
        {t("Add a source to the canvas to see the generated program.")}
      </Empty>
    );
  }
  return (
    <div className={classes.tab}>
      <CodeActions topology={topology} name={name} version={baseVersion} changed={changed} />
      <div className={classes.program}>
        <Program />
      </div>
    </div>
  );
}

function Program() {
  const result = useDesigner((state) => state.result);
  const dialect = useDialect((state) => state.dialect);
  if (dialect === "plain") return <PlainCode />;
  if (result === null) return <Loading what={t("Compiling…")} />;
  if (result.code === null) {
    const errors = result.diagnostics.filter((each) => each.severity === "error").length;
    return (
      <Empty title={t("No code while there are errors")}>
        {t(
          {
            id: "code.problems_must_be_fixed",
            message:
              "{n} {n, plural, one {problem} other {problems}} must be fixed first. See the Problems tab.",
          },
          { n: errors },
        )}
      </Empty>
    );
  }
  return (
    <div className={classes.panel}>
      <Suspense fallback={<Loading what={t("Loading the editor…")} />}>
        <CodeViewer code={result.code} />
      </Suspense>
    </div>
  );
}
