/** The nodes that are drawn in each sub-topology. */

import { isStoreKind, type TopologyDocument } from "./document";

interface PlannedAreas {
  readonly subtopologies: readonly { readonly id: number; readonly nodes: readonly string[] }[];
  readonly edges: readonly { readonly index: number; readonly shuffle: boolean }[];
}

/**
 * The nodes of each sub-topology, in the order of the plan. A node behind a shuffle belongs to the last of its
 * sub-topologies, because that is where it does its work; the earlier one only writes the repartition topic. A store
 * belongs to the sub-topology of the nodes that use it.
 */
export function areasOf(document: TopologyDocument, plan: PlannedAreas): Map<number, Set<string>> {
  const shuffled = new Set(plan.edges.filter((edge) => edge.shuffle).map((edge) => edge.index));
  const behind = new Set(
    document.edges.filter((_edge, index) => shuffled.has(index)).map((edge) => edge.target),
  );
  const last = new Map<string, number>();
  for (const area of plan.subtopologies) for (const id of area.nodes) last.set(id, area.id);
  const kinds = new Map(document.nodes.map((node) => [node.id, node.kind]));
  const isStore = (id: string) => isStoreKind(kinds.get(id) ?? "");
  const areas = new Map<number, Set<string>>();
  for (const area of plan.subtopologies) {
    const mine = new Set(area.nodes.filter((id) => !behind.has(id) || last.get(id) === area.id));
    for (const edge of document.edges) {
      if (isStore(edge.source) && mine.has(edge.target)) mine.add(edge.source);
    }
    areas.set(area.id, mine);
  }
  return areas;
}
