import { TextInput } from "@mantine/core";
import IconSearch from "@tabler/icons-react/dist/esm/icons/IconSearch.mjs";
import { useMemo, useState } from "react";
import { hueOf } from "../designer/derived";
import { useDesigner, useDiagnosticsOf } from "../designer/store";
import { areasOf } from "../graph/areas";
import { kindOf } from "../graph/catalog";
import { type DocumentNode, isStoreKind, labelOf } from "../graph/document";
import { inOrder } from "../graph/order";
import { searchNodes } from "../graph/search";
import { Cut, Empty } from "../ui";
import { t } from "../ui/i18n";
import { KindIcon } from "../ui/KindIcon";

function Row({ node }: { node: DocumentNode }) {
  const catalog = useDesigner((state) => state.catalog);
  const selected = useDesigner((state) => state.selection.nodes.includes(node.id));
  const lit = useDesigner((state) => state.hovered === node.id);
  const diagnostics = useDiagnosticsOf(node.id);
  const errors = diagnostics.filter((each) => each.severity === "error").length;
  if (catalog === null) return null;
  return (
    <button
      type="button"
      className="outline-row"
      data-selected={selected || undefined}
      data-lit={lit || undefined}
      data-hue={hueOf(catalog, node.kind)}
      onClick={() => useDesigner.getState().goTo(node.id)}
      onPointerEnter={() => useDesigner.getState().setHovered(node.id)}
      onPointerLeave={() => useDesigner.getState().setHovered(null)}
    >
      <KindIcon name={kindOf(catalog, node.kind)?.icon} size={15} className="kind-icon" />
      <Cut>{labelOf(node)}</Cut>
      <small className="m-cut">{kindOf(catalog, node.kind)?.title ?? node.kind}</small>
      {diagnostics.length > 0 ? (
        <i className="outline-badge m-figures" data-severity={errors > 0 ? "error" : "warning"}>
          {errors > 0 ? errors : diagnostics.length}
        </i>
      ) : null}
    </button>
  );
}

/** A list of all nodes from sources to sinks, grouped by sub-topology once the plan is known. */
export function Outline() {
  const document = useDesigner((state) => state.document);
  const plan = useDesigner((state) => state.result?.plan ?? null);
  const [query, setQuery] = useState("");
  const groups = useMemo(() => {
    const ordered = inOrder(document);
    if (query.trim() !== "") {
      return [{ title: null, nodes: searchNodes(document, query).map((hit) => hit.node) }];
    }
    if (plan === null || plan.subtopologies.length < 2) return [{ title: null, nodes: ordered }];
    const shown = new Set<string>();
    const areas = areasOf(document, plan);
    const byArea = plan.subtopologies.map((area) => {
      const nodes = ordered.filter(
        (node) => areas.get(area.id)?.has(node.id) && !shown.has(node.id),
      );
      for (const node of nodes) shown.add(node.id);
      return {
        title: t(
          {
            id: "common.sub_topology_tasks",
            message: "Sub-topology {id} · {n} {n, plural, one {task} other {tasks}}",
          },
          { id: area.id, n: area.tasks },
        ),
        nodes,
      };
    });
    const rest = ordered.filter((node) => !shown.has(node.id));
    return rest.length === 0 ? byArea : [...byArea, { title: t("Not planned yet"), nodes: rest }];
  }, [document, plan, query]);
  if (document.nodes.length === 0)
    return (
      <Empty title={t("No nodes yet")}>
        {t("Every node you add is listed here, from sources to sinks.")}
      </Empty>
    );
  const stores = document.nodes.filter((node) => isStoreKind(node.kind)).length;
  return (
    <div className="side">
      <div className="side-search">
        <TextInput
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          placeholder={t("Filter nodes")}
          aria-label={t("Filter nodes")}
          leftSection={<IconSearch size={14} stroke={1.5} />}
        />
      </div>
      <div className="side-list m-scroll">
        {groups.map((group, index) => (
          <div key={group.title ?? index}>
            {group.title === null ? null : <h2 className="side-title">{group.title}</h2>}
            {group.nodes.map((node) => (
              <Row key={node.id} node={node} />
            ))}
          </div>
        ))}
      </div>
      <footer className="side-foot m-figures">
        {t(
          {
            id: "workbench.nodes_stores_edges",
            message:
              "{nodes} {nodes, plural, one {node} other {nodes}} · {stores} {stores, plural, one {store} other {stores}} · {edges} {edges, plural, one {edge} other {edges}}",
          },
          {
            nodes: document.nodes.length - stores,
            stores,
            edges: document.edges.length,
          },
        )}
      </footer>
    </div>
  );
}
