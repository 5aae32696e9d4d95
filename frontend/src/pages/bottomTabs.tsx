import { t } from "../app/phrases";
import { CodeActions } from "../code/CodeActions";
import { CodePanel } from "../code/CodePanel";
import { RunsPanel } from "../deployments/RunsPanel";
import { PlanPanel } from "../plan/PlanPanel";
import { ProblemsBadge, ProblemsPanel } from "../problems/ProblemsPanel";
import { AssignmentPanel } from "../runtime/AssignmentPanel";
import { LogsPanel } from "../runtime/LogsPanel";
import { useEditing } from "./editing";

function ExportActions({ topology }: { topology: number }) {
  const { name, baseVersion, changed } = useEditing();
  return <CodeActions topology={topology} name={name} version={baseVersion} changed={changed} />;
}

/** What the panel under the canvas holds. */
export function bottomTabs(topology: number) {
  return [
    { id: "problems", title: t("Problems"), badge: <ProblemsBadge />, panel: <ProblemsPanel /> },
    {
      id: "code",
      title: t("Code"),
      panel: <CodePanel />,
      actions: <ExportActions topology={topology} />,
    },
    { id: "plan", title: t("Plan"), panel: <PlanPanel /> },
    { id: "assignment", title: t("Assignment"), panel: <AssignmentPanel /> },
    { id: "logs", title: t("Logs"), panel: <LogsPanel /> },
    { id: "runs", title: t("Runs"), panel: <RunsPanel /> },
  ];
}
