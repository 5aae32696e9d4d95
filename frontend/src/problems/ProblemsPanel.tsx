import IconAlertTriangle from "@tabler/icons-react/dist/esm/icons/IconAlertTriangle.mjs";
import IconCircleX from "@tabler/icons-react/dist/esm/icons/IconCircleX.mjs";
import IconEqualNot from "@tabler/icons-react/dist/esm/icons/IconEqualNot.mjs";
import { useMemo } from "react";
import { describeDiagnostic } from "../api/prose";
import type { Diagnostic } from "../api/types";
import { useDesigner } from "../designer/store";
import { findNode, labelOf, type TopologyDocument } from "../graph/document";
import { Empty, Note } from "../ui";
import { t } from "../ui/i18n";
import { byNode, hasSink } from "./groups";
import { FixAll, FixButton } from "./laterFixes";
import classes from "./problems.module.css";

/** That no result is written, which is no error while a store can be queried. */
const NO_SINK: Diagnostic = {
  code: "no_results",
  severity: "warning",
  node: null,
  parameter: null,
  path: null,
  position: null,
  blocks: null,
  message: "",
  hint: "",
  facts: {},
};

/** All diagnostics, grouped by node; a click goes to the node and the field. */
export function ProblemsPanel() {
  const result = useDesigner((state) => state.result);
  const document = useDesigner((state) => state.document);
  const failure = useDesigner((state) => state.compileFailure);
  const diagnostics = result?.diagnostics ?? [];

  if (failure !== null && diagnostics.length === 0) {
    return (
      <div className={classes.panel}>
        <Note tone="degraded">{t("The compiler is not available: {why}", { why: failure })}</Note>
      </div>
    );
  }
  if (result === null) {
    return (
      <Empty title={t("Checking…")}>
        {t({
          id: "problems.compiler_is_checking_topology",
          message:
            "The compiler is checking the topology. If nobody has used it for a while, it starts first, which takes some seconds.",
        })}
      </Empty>
    );
  }
  if (document.nodes.length === 0) {
    return (
      <Empty title={t("Nothing drawn yet")}>
        {t({
          id: "problems.drag_source_from_palette",
          message:
            "Drag a source from the palette to the canvas. What is missing or wrong is listed here.",
        })}
      </Empty>
    );
  }
  if (diagnostics.length === 0) {
    return (
      <Empty
        title={t("No problems")}
        action={hasSink(document) ? undefined : <FixButton diagnostic={NO_SINK} />}
      >
        {hasSink(document)
          ? t("This topology compiles.")
          : t({
              id: "problems.this_topology_compiles_but",
              message:
                "This topology compiles, but it has no sink: no result is written. Add a sink.",
            })}
      </Empty>
    );
  }
  return (
    <div className={`${classes.panel} m-scroll`} data-testid="problems">
      {failure === null ? null : (
        <Note tone="degraded">{t("The compiler is not available: {why}", { why: failure })}</Note>
      )}
      <div className={classes.all}>
        <FixAll diagnostics={diagnostics} />
      </div>
      <DiagnosticGroups diagnostics={diagnostics} fixes />
    </div>
  );
}

/** Diagnostics grouped by node. */
export function DiagnosticGroups(props: {
  diagnostics: readonly Diagnostic[];
  /** Whether they are those of the open document, which can be fixed here. */
  fixes?: boolean;
}) {
  const { diagnostics, fixes = false } = props;
  const document = useDesigner((state) => state.document);
  const groups = useMemo(() => byNode(diagnostics, document), [diagnostics, document]);
  return groups.map((group) => (
    <Group key={group.node ?? ""} group={group} document={document} fixes={fixes} />
  ));
}

function Group(props: {
  group: { node: string | null; diagnostics: readonly Diagnostic[] };
  document: TopologyDocument;
  fixes: boolean;
}) {
  const { node, diagnostics } = props.group;
  const found = node === null ? undefined : findNode(props.document, node);
  const goTo = useDesigner((state) => state.goTo);
  return (
    <section className={classes.group}>
      <h3 className={classes.node}>
        {found === undefined ? t("The topology as a whole") : labelOf(found)}
        {found === undefined || labelOf(found) === node ? null : (
          <span className={classes.id}>{node}</span>
        )}
      </h3>
      <ul className={classes.list}>
        {diagnostics.map((diagnostic, index) => (
          <li key={`${diagnostic.code}-${diagnostic.parameter}-${index}`} className={classes.row}>
            <button
              type="button"
              className={classes.problem}
              data-severity={diagnostic.severity}
              data-testid="problem"
              disabled={node === null ? diagnostic.parameter === null : found === undefined}
              onClick={() => goTo(node, diagnostic.parameter)}
            >
              {diagnostic.severity === "difference" ? (
                <IconEqualNot
                  size={16}
                  stroke={1.5}
                  className={classes.difference}
                  aria-label={t("Difference")}
                />
              ) : diagnostic.severity === "error" ? (
                <IconCircleX
                  size={16}
                  stroke={1.5}
                  className={classes.error}
                  aria-label={t("Error")}
                />
              ) : (
                <IconAlertTriangle
                  size={16}
                  stroke={1.5}
                  className={classes.warning}
                  aria-label={t("Warning")}
                />
              )}
              <span className={classes.text}>
                <Sentences diagnostic={diagnostic} />
              </span>
              {diagnostic.parameter === null ? null : (
                <code className={classes.parameter}>{diagnostic.parameter}</code>
              )}
            </button>
            {props.fixes ? <FixButton diagnostic={diagnostic} /> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The figure beside the tab's title: errors in red, else warnings in amber, else nothing. */
export function ProblemsBadge() {
  const diagnostics = useDesigner((state) => state.result?.diagnostics);
  const errors = diagnostics?.filter((each) => each.severity === "error").length ?? 0;
  const warnings = (diagnostics?.length ?? 0) - errors;
  if (errors + warnings === 0) return null;
  return (
    <span className={classes.badge} data-severity={errors > 0 ? "error" : "warning"}>
      {errors > 0 ? errors : warnings}
    </span>
  );
}

function Sentences({ diagnostic }: { diagnostic: Diagnostic }) {
  const { hint, message } = describeDiagnostic(diagnostic);
  return (
    <>
      <span>{message}</span>
      {hint === null ? null : <span className={classes.hint}>{hint}</span>}
    </>
  );
}
