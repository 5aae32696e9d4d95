/** The differences between two documents, in one line. */

import { edgeId, type TopologyDocument } from "../graph/document";
import { writtenOf } from "../graph/written";
import { t } from "../ui/i18n";
import { canonical, differences, type NodeDifference } from "./merge";

/** The maximum number of names to list; if there are more, only their number is given. */
const MOST_NAMES = 3;

function named(nodes: readonly NodeDifference[]): string {
  const names = nodes.slice(0, MOST_NAMES).map((each) => each.label);
  if (nodes.length > MOST_NAMES) names.push(`+${nodes.length - MOST_NAMES}`);
  return names.join(", ");
}

/** The number of edges that differ between nodes that both documents have. */
function edgesApart(a: TopologyDocument, b: TopologyDocument): number {
  const nodes = (document: TopologyDocument) => new Set(document.nodes.map((node) => node.id));
  const [inA, inB] = [nodes(a), nodes(b)];
  const kept = (document: TopologyDocument) =>
    document.edges
      .filter((edge) => [edge.source, edge.target].every((end) => inA.has(end) && inB.has(end)))
      .map(edgeId);
  const [before, after] = [new Set(kept(a)), new Set(kept(b))];
  return (
    [...before].filter((id) => !after.has(id)).length +
    [...after].filter((id) => !before.has(id)).length
  );
}

/**
 * The changes from one document to the other: "added Count, changed Lines; changed settings". Moved nodes are mentioned
 * only if nothing else differs. Empty if nothing does.
 */
export function changesBetween(before: TopologyDocument | null, after: TopologyDocument): string {
  const base = before ?? {
    ...after,
    nodes: [],
    edges: [],
    settings: {},
    topics: {},
    description: "",
  };
  const found = differences(base, after, base);
  const parts: string[] = [];
  const added = found.filter((each) => each.base === null);
  const removed = found.filter((each) => each.mine === null);
  const changed = found.filter((each) => each.base !== null && each.mine !== null);
  if (added.length > 0) parts.push(t("added {names}", { names: named(added) }));
  if (removed.length > 0) parts.push(t("removed {names}", { names: named(removed) }));
  if (changed.length > 0) parts.push(t("changed {names}", { names: named(changed) }));
  const edges = edgesApart(base, after);
  if (edges > 0) parts.push(t("changed {n} {n, plural, one {edge} other {edges}}", { n: edges }));
  const differs = (field: "settings" | "topics" | "description") =>
    before !== null && canonical(base[field] ?? "") !== canonical(after[field] ?? "");
  if (differs("settings")) parts.push(t("changed settings"));
  if (differs("topics")) parts.push(t("changed topics"));
  if (differs("description")) parts.push(t("changed the description"));
  const drawn = ({ drawing }: TopologyDocument) => {
    const { program: _program, ...others } = drawing ?? {};
    return canonical(others);
  };
  const written = (document: TopologyDocument) => canonical(writtenOf(document));
  if (before !== null && drawn(base) !== drawn(after)) {
    parts.push(t("changed groups, notes or pinned records"));
  }
  if (before !== null && written(base) !== written(after)) {
    parts.push(t("changed the text of the program"));
  }
  if (parts.length === 0 && before !== null && canonical(before) !== canonical(after)) {
    parts.push(t("moved nodes"));
  }
  return parts.join("; ");
}

/** A document as text for comparison, without positions on the canvas. */
export function asText(document: TopologyDocument): string {
  const nodes = document.nodes.map(({ position: _position, ...node }) => node);
  return `${JSON.stringify({ ...document, nodes }, null, 2)}\n`;
}
