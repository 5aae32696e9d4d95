import IconExpand from "@tabler/icons-react/dist/esm/icons/IconArrowsDiagonal.mjs";
import type { NodeProps } from "@xyflow/react";
import { memo, useMemo } from "react";
import { describeDiagnostic } from "../api/prose";
import { hasStore, hueOf, portRoles } from "../designer/derived";
import { type RunningVersion, useRuntime } from "../designer/runtime";
import { sentenceText } from "../designer/sentences";
import { useSimulated } from "../designer/simulated";
import { type DesignerState, useDesigner, useDiagnosticsOf } from "../designer/store";
import { runsText } from "../designer/words";
import { kindOf, portsOf } from "../graph/catalog";
import { labelOf } from "../graph/document";
import { isFragment } from "../graph/fragments";
import { sizeOfPorts } from "../graph/geometry";
import { doubleOf, mutedOf } from "../graph/pins";
import { isMissing } from "../problems/places";
import { phrase, t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";
import { CommentBadge } from "./CommentBadge";
import type { OperatorFlowNode } from "./flow";
import { Ports } from "./Ports";
import { RuntimeFooter } from "./RuntimeFooter";
import { TaskBars } from "./TaskBars";

/** How the node runs and in how many tasks; null unless the plan is shown. */
function planned(state: DesignerState, node: string): string | null {
  if (state.layer !== "plan") return null;
  const plan = state.result?.plan?.nodes[node];
  if (plan === undefined) return null;
  const areas = state.result?.plan?.subtopologies ?? [];
  const mine = areas.filter((area) => plan.subtopologies.includes(area.id)).at(-1);
  const tasks =
    mine === undefined ? "" : t("{n} {n, plural, one {task} other {tasks}}", { n: mine.tasks });
  return [runsText(plan.runs_as), tasks].filter((part) => part !== "").join(" · ");
}

/** `missing` if the node's only errors are empty fields, `error` for others, undefined without errors. */
export function troubleOf(state: DesignerState, node: string): "error" | "missing" | undefined {
  const errors = (state.nodeDiagnostics[node] ?? []).filter((each) => each.severity === "error");
  if (errors.length === 0) return undefined;
  return errors.every(isMissing) ? "missing" : "error";
}

const PROBLEMS = {
  warning: phrase("{n} {n, plural, one {warning} other {warnings}}"),
  missing: phrase("{n} {n, plural, one {field} other {fields}} to fill in"),
  error: phrase("{n} {n, plural, one {error} other {errors}}"),
} as const;

/** The number of a node's errors or, if it has none, of its warnings, at its corner. */
export function ProblemBadge({ node }: { node: string }) {
  const diagnostics = useDiagnosticsOf(node);
  if (diagnostics.length === 0) return null;
  const errors = diagnostics.filter((each) => each.severity === "error");
  const number = errors.length > 0 ? errors.length : diagnostics.length;
  const severity = errors.length === 0 ? "warning" : errors.every(isMissing) ? "missing" : "error";
  return (
    <span
      className="node-badge"
      data-severity={severity}
      title={diagnostics.map((each) => describeDiagnostic(each).message).join("\n")}
      role="img"
      aria-label={t(PROBLEMS[severity], { n: number })}
    >
      {number}
    </span>
  );
}

/** Marks the node at which the deployment failed, with the cause. */
function FailureBadge({ message }: { message: string }) {
  return (
    <span
      className="node-badge"
      data-severity="failure"
      title={message}
      role="img"
      aria-label={t("The deployment failed here: {why}", { why: message })}
    >
      !
    </span>
  );
}

/** Records of the simulation that ended at this node, and why. */
function EndedBadge({ node }: { node: string }) {
  const drops = useSimulated((state) => state.drops[node]);
  if (drops === undefined) return null;
  const number = Object.values(drops).reduce((sum, each) => sum + each, 0);
  const reasons = Object.entries(drops).map(([reason, n]) => `${n} × ${reason}`);
  return (
    <span
      className="node-ended m-figures"
      title={[
        t(
          {
            id: "canvas.records_of_simulation_were",
            message:
              "{n} {n, plural, one {record} other {records}} of the simulation {n, plural, one {was} other {were}} dropped here",
          },
          { n: number },
        ),
        ...reasons,
      ].join("\n")}
      role="img"
      aria-label={t(
        {
          id: "canvas.records_of_simulation_were",
          message:
            "{n} {n, plural, one {record} other {records}} of the simulation {n, plural, one {was} other {were}} dropped here",
        },
        {
          n: number,
        },
      )}
    >
      {t("{n} ended", { n: number })}
    </span>
  );
}

/** A one-sentence description of a node; in Runtime, with the values of the environment in which it runs. */
export function useSummary(node: string): string | undefined {
  const drawn = useDesigner((state) => state.result?.summary[node]);
  const runtime = useDesigner((state) => state.layer === "runtime");
  const runs = useRuntime((state) => (runtime ? state.sentences?.[node] : undefined));
  const summary = runs ?? drawn;
  return summary === undefined ? undefined : sentenceText(summary);
}

/** What a running version has in place of a node of the canvas, as text; null if it has the same. */
function versionOf(running: RunningVersion | null, node: string): string | null {
  if (running === null) return null;
  const n = running.version;
  if (running.drawnOnly.has(node)) return t("not in version {n}, which is running", { n });
  const changed = running.changed[node];
  if (changed === undefined) return null;
  const text = changed.summary === null ? changed.label : sentenceText(changed.summary);
  return t("version {n}: {text}", { n, text });
}

/** Draws the nodes of a fragment in its place. */
function OpenButton({ node }: { node: string }) {
  const text = t("Open the fragment in place");
  return (
    <button
      type="button"
      className="node-open nodrag"
      aria-label={text}
      title={`${text} (O)`}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation();
        void useDesigner.getState().openInPlace(node, true);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <IconExpand size={14} stroke={1.5} />
    </button>
  );
}

export const OperatorNode = memo(function OperatorNode({ data, id }: NodeProps<OperatorFlowNode>) {
  const { node } = data;
  const catalog = useDesigner((state) => state.catalog);
  const summary = useSummary(id);
  const roles = useDesigner((state) => portRoles(state, id));
  const trouble = useDesigner((state) => troubleOf(state, id));
  const runtime = useDesigner((state) => state.layer === "runtime");
  const plan = useDesigner((state) => planned(state, id));
  const version = useRuntime((state) => (runtime ? versionOf(state.running, id) : null));
  const lit = useDesigner((state) => state.hovered === id);
  const failed = useRuntime((state) =>
    state.failed?.node === id || state.failed?.inner === id ? state.failed.message : null,
  );
  const at = useSimulated((state) =>
    state.at?.node === id || state.at?.inner === id
      ? state.at.ended
        ? "ended"
        : "here"
      : undefined,
  );
  const missed = useSimulated((state) => state.missed?.nodes.has(id));
  const muted = useDesigner(
    (state) => state.layer === "design" && mutedOf(state.document).includes(id),
  );
  const doubled = useDesigner(
    (state) => state.layer === "design" && doubleOf(state.document, id) !== undefined,
  );
  const kind = catalog === null ? undefined : kindOf(catalog, node.kind);
  const used = useDesigner((state) => hasStore(state, id));
  const isTable = Object.entries(roles).some(
    ([port, role]) => port.startsWith("output/") && role.includes("table"),
  );
  // A kind that keeps state only for tables has no store port while it works on a stream.
  const keeps = used || isTable || kind?.stateful === true;
  const ports = useMemo(
    () =>
      catalog === null
        ? []
        : portsOf(catalog, node).filter((port) => keeps || port.side !== "store"),
    [catalog, node, keeps],
  );
  if (catalog === null) return null;
  const isSource = !ports.some((port) => port.side === "input");
  return (
    <div
      className="node"
      data-hue={hueOf(catalog, node.kind)}
      data-table={isTable || undefined}
      data-trouble={failed === null ? trouble : "error"}
      data-lit={lit || undefined}
      data-step={at}
      data-missed={missed || undefined}
      data-muted={muted || undefined}
      data-runtime={runtime || undefined}
    >
      <div className="node-body">
        <div className="node-title">
          <KindIcon name={kind?.icon} size={15} className="node-icon" />
          <span className="node-label">{labelOf(node)}</span>
          {runtime ? <TaskBars node={id} /> : null}
          {isFragment(node) ? <OpenButton node={id} /> : null}
        </div>
        <div
          className="node-sentence"
          data-version={version === null ? undefined : ""}
          title={version ?? summary}
        >
          {version ??
            plan ??
            summary ??
            kind?.title ??
            t("Unknown kind {kind}", { kind: node.kind })}
        </div>
      </div>
      {muted ? (
        <span className="node-muted" title={t("Does nothing in simulations")}>
          {t("muted")}
        </span>
      ) : doubled ? (
        <span
          className="node-muted"
          data-double=""
          title={t("In simulations and tests, a table of answers stands for it")}
        >
          {t("double")}
        </span>
      ) : null}
      {runtime ? null : <EndedBadge node={id} />}
      {runtime ? <RuntimeFooter node={id} source={isSource} /> : null}
      {failed === null ? <ProblemBadge node={id} /> : <FailureBadge message={failed} />}
      <CommentBadge node={id} />
      <Ports node={id} ports={ports} roles={roles} height={sizeOfPorts(ports).height} />
    </div>
  );
});
