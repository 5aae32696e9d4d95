import { Suspense } from "react";
import { useServices } from "../designer/servicesContext";
import { Loading } from "../frame/Loading";
import { DiagnosticGroups } from "../problems/ProblemsPanel";
import { Note } from "../ui";
import { t } from "../ui/i18n";
import { part } from "../ui/reach";
import classes from "./code.module.css";
import { useDialect, usePlain } from "./dialect";

const CodeViewer = part(async () => (await import("./CodeViewer")).default);

/** The program in plain Structured Streaming and, by node, how its results differ from Kafka Streams'. */
export function PlainCode() {
  usePlain(useServices(), true);
  const result = useDialect((state) => state.plain);
  const failure = useDialect((state) => state.failure);
  if (failure !== null && result === null) {
    return (
      <Note tone="degraded">{t("The compiler is not available: {why}", { why: failure })}</Note>
    );
  }
  if (result === null) return <Loading what={t("Compiling…")} />;
  const errors = result.diagnostics.filter((each) => each.severity === "error");
  const differences = result.diagnostics.filter((each) => each.severity === "difference");
  const shown = result.code === null ? errors : result.diagnostics;
  return (
    <div className={classes.panel}>
      {result.code === null ? null : (
        <Suspense fallback={<Loading what={t("Loading the editor…")} />}>
          <CodeViewer code={result.code} />
        </Suspense>
      )}
      <aside className={`${classes.differences} m-scroll`} data-testid="differences">
        <h2>
          {result.code === null
            ? t("Not possible in plain Spark")
            : t(
                {
                  id: "common.differences_from_kafka_streams",
                  message:
                    "{n} {n, plural, one {difference} other {differences}} from Kafka Streams",
                },
                { n: differences.length },
              )}
        </h2>
        <DiagnosticGroups diagnostics={shown} />
      </aside>
    </div>
  );
}
