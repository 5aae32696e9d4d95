import { hueOf } from "../designer/derived";
import { planText } from "../designer/localize";
import { useDesigner } from "../designer/store";
import { roleText, runsText } from "../designer/words";
import { kindOf } from "../graph/catalog";
import type { DocumentNode } from "../graph/document";
import { Chip } from "../ui";

/** What a node guarantees, if its plan says it. */
export function Guarantee({ node }: { node: Pick<DocumentNode, "id" | "kind"> }) {
  const catalog = useDesigner((state) => state.catalog);
  const guarantee = useDesigner((state) => state.result?.plan?.nodes[node.id]?.guarantee ?? null);
  if (catalog === null || guarantee === null) return null;
  return (
    <p className="inspector-promise" data-testid="guarantee">
      {planText(catalog, node.kind, "guarantee", guarantee)}
    </p>
  );
}

/** Facts from the plan in one line: the node's kind, how it runs, and the roles of its outputs. */
export function Facts({ node }: { node: Pick<DocumentNode, "id" | "kind"> }) {
  const catalog = useDesigner((state) => state.catalog);
  const plan = useDesigner((state) => state.result?.plan?.nodes[node.id]);
  const ports = useDesigner((state) => state.result?.ports[node.id]);
  if (catalog === null) return null;
  const kind = kindOf(catalog, node.kind);
  const roles = [...new Set(Object.values(ports ?? {}).map((port) => port.role))];
  const how = plan === undefined ? null : runsText(plan.runs_as);
  return (
    <div className="inspector-facts">
      <Chip>
        <i className="hue-dot" data-hue={hueOf(catalog, node.kind)} />
        {kind?.title ?? node.kind}
      </Chip>
      {how === null ? null : <Chip>{how}</Chip>}
      {roles.map((role) => (
        <Chip key={role}>{roleText(role)}</Chip>
      ))}
    </div>
  );
}
