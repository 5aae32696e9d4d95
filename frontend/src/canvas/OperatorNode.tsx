import type { NodeProps } from "@xyflow/react";
import { memo, useMemo } from "react";
import { hueOf, portRoles } from "../designer/derived";
import { type DesignerState, useDesigner, useDiagnosticsOf } from "../designer/store";
import { kindOf, portsOf } from "../graph/catalogue";
import { labelOf } from "../graph/document";
import { sizeOfPorts } from "../graph/geometry";
import { KindIcon } from "../ui/KindIcon";
import type { FlowNode } from "./flow";
import { Ports } from "./Ports";
import { RuntimeFooter, TaskDots } from "./RuntimeFooter";
import { t } from "./texts";

function taskCount(state: DesignerState, node: string): number | null {
  if (state.layer !== "plan") return null;
  const plan = state.result?.plan;
  if (plan === null || plan === undefined) return null;
  const mine = plan.subtopologies.filter((each) => each.nodes.includes(node));
  return mine.length === 0 ? null : mine.reduce((sum, each) => sum + each.tasks, 0);
}

function runsAs(state: DesignerState, node: string): string | null {
  return state.layer === "plan" ? (state.result?.plan?.nodes[node]?.runs_as ?? null) : null;
}

/** Problems of a node at its corner: how many errors, or how many warnings. */
export function ProblemBadge({ node }: { node: string }) {
  const diagnostics = useDiagnosticsOf(node);
  if (diagnostics.length === 0) return null;
  const errors = diagnostics.filter((each) => each.severity === "error").length;
  const number = errors > 0 ? errors : diagnostics.length;
  return (
    <span
      className="node-badge"
      data-severity={errors > 0 ? "error" : "warning"}
      title={diagnostics.map((each) => each.message).join("\n")}
      role="img"
      aria-label={t(errors > 0 ? "errors" : "warnings", { n: number })}
    >
      {number}
    </span>
  );
}

export const OperatorNode = memo(function OperatorNode({ data, id }: NodeProps<FlowNode>) {
  const { node } = data;
  const catalogue = useDesigner((state) => state.catalogue);
  const summary = useDesigner((state) => state.result?.summary[id]);
  const roles = useDesigner((state) => portRoles(state, id));
  const failing = useDesigner((state) =>
    (state.nodeDiagnostics[id] ?? []).some((each) => each.severity === "error"),
  );
  const runtime = useDesigner((state) => state.layer === "runtime");
  const tasks = useDesigner((state) => taskCount(state, id));
  const how = useDesigner((state) => runsAs(state, id));
  const lit = useDesigner((state) => state.hovered === id);
  const kind = catalogue === null ? undefined : kindOf(catalogue, node.kind);
  const ports = useMemo(
    () => (catalogue === null ? [] : portsOf(catalogue, node)),
    [catalogue, node],
  );
  if (catalogue === null) return null;
  const isTable = ports.some(
    (port) => port.side === "output" && (roles[`output/${port.name}`] ?? "").includes("table"),
  );
  const isSource = !ports.some((port) => port.side === "input");
  return (
    <div
      className="node"
      data-hue={hueOf(catalogue, node.kind)}
      data-table={isTable || undefined}
      data-error={failing || undefined}
      data-lit={lit || undefined}
      data-runtime={runtime || undefined}
    >
      <div className="node-body">
        <div className="node-title">
          <KindIcon name={kind?.icon} size={15} className="node-icon" />
          <span className="node-label">{labelOf(node)}</span>
          {runtime ? <TaskDots node={id} /> : null}
          {tasks === null ? null : (
            <span className="node-tasks m-figures" title={t("tasks", { n: tasks })}>
              {how === "python" ? "py · " : ""}
              {t("tasksShort", { n: tasks })}
            </span>
          )}
        </div>
        <div className="node-sentence" title={summary}>
          {summary ?? kind?.title ?? t("unknownKind", { kind: node.kind })}
        </div>
      </div>
      {runtime ? <RuntimeFooter node={id} source={isSource} /> : null}
      <ProblemBadge node={id} />
      <Ports node={id} ports={ports} roles={roles} height={sizeOfPorts(ports).height} />
    </div>
  );
});
