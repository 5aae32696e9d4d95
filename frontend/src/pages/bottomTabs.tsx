import { useComments } from "../designer/comments";
import { ProblemsBadge, ProblemsPanel } from "../problems/ProblemsPanel";
import { Chip } from "../ui";
import { t } from "../ui/i18n";
import { later } from "../ui/later";

const CodePanel = later(async () => (await import("../code/CodePanel")).CodePanel);
const PlanPanel = later(async () => (await import("../plan/PlanPanel")).PlanPanel);
const AssignmentPanel = later(
  async () => (await import("../runtime/AssignmentPanel")).AssignmentPanel,
);
const ChartsPanel = later(async () => (await import("../runtime/ChartsPanel")).ChartsPanel);
const LogsPanel = later(async () => (await import("../runtime/LogsPanel")).LogsPanel);
const RecordsPanel = later(async () => (await import("../runtime/RecordsPanel")).RecordsPanel);
const StatePanel = later(async () => (await import("../stores/StatePanel")).StatePanel);
const RunsPanel = later(async () => (await import("../deployments/RunsPanel")).RunsPanel);

const CommentsPanel = later(async () => (await import("../comments/CommentsPanel")).CommentsPanel);

const SimulatePanel = later(async () => (await import("../simulate/SimulatePanel")).SimulatePanel);

/** The number of open comments. */
function CommentsBadge() {
  const n = useComments((state) => Object.values(state.open).reduce((sum, each) => sum + each, 0));
  return n === 0 ? null : <Chip>{String(n)}</Chip>;
}

/** The tabs of the panel below the canvas. */
export function bottomTabs(
  ws: string,
  topology: number,
  { editor, operator }: { editor: boolean; operator: boolean },
) {
  return [
    { id: "problems", title: t("Problems"), badge: <ProblemsBadge />, panel: <ProblemsPanel /> },
    {
      id: "simulate",
      title: t("Simulate"),
      panel: <SimulatePanel topology={topology} ws={ws} />,
    },
    { id: "code", title: t("Code"), panel: <CodePanel topology={topology} /> },
    { id: "plan", title: t("Plan"), panel: <PlanPanel /> },
    { id: "assignment", title: t("Assignment"), panel: <AssignmentPanel /> },
    { id: "charts", title: t("Charts"), panel: <ChartsPanel /> },
    { id: "records", title: t("Records"), panel: <RecordsPanel ws={ws} topology={topology} /> },
    { id: "state", title: t("State"), panel: <StatePanel /> },
    { id: "logs", title: t("Logs"), panel: <LogsPanel /> },
    { id: "runs", title: t("Runs"), panel: <RunsPanel operator={operator} /> },
    {
      id: "comments",
      title: t("Comments"),
      badge: <CommentsBadge />,
      panel: <CommentsPanel ws={ws} topology={topology} editor={editor} operator={operator} />,
    },
  ];
}
