/** Test coverage: nodes, edges (branches), and the ways in which records end. */

import type { SimulationResult } from "../api/types";
import {
  type DocumentNode,
  edgeId,
  isStoreKind,
  type Parameters,
  paramsOf,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import { factsOf, type Way } from "../graph/kinds";

interface WayOf {
  readonly node: string;
  readonly way: Way;
}

export interface Coverage {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
  /** `node/way`. */
  readonly ways: ReadonlySet<string>;
}

export const NOTHING_COVERED: Coverage = { nodes: new Set(), edges: new Set(), ways: new Set() };

function waysAt(document: TopologyDocument, node: DocumentNode): readonly Way[] {
  const params = paramsOf(node);
  const settings = (document.settings ?? {}) as Parameters;
  const window = params.window as { type?: unknown } | null | undefined;
  const late = window !== undefined && window !== null && window.type !== "unlimited";
  return [
    ...(factsOf(node.kind).ways?.(params, settings) ?? []),
    ...(late ? ["late" as const] : []),
  ];
}

/** The ways in which records can end in a topology. */
function waysOf(document: TopologyDocument): readonly WayOf[] {
  return document.nodes.flatMap((node) =>
    waysAt(document, node).map((way) => ({ node: node.id, way })),
  );
}

function storeNodes(document: TopologyDocument): ReadonlySet<string> {
  return new Set(document.nodes.filter((node) => isStoreKind(node.kind)).map((node) => node.id));
}

/** Everything that can be covered: nodes other than stores, the edges between them, and the ways. */
export function coverable(document: TopologyDocument): Coverage {
  const stores = storeNodes(document);
  return {
    nodes: new Set(document.nodes.map((node) => node.id).filter((id) => !stores.has(id))),
    edges: new Set(
      document.edges
        .filter((edge) => targetPort(edge) !== "store" && !stores.has(edge.source))
        .map(edgeId),
    ),
    ways: new Set(waysOf(document).map(({ node, way }) => `${node}/${way}`)),
  };
}

/** The coverage after another run, added to `before`. */
export function covered(
  before: Coverage,
  document: TopologyDocument,
  result: SimulationResult,
): Coverage {
  const nodes = new Set(before.nodes);
  const edges = new Set(before.edges);
  const ways = new Set(before.ways);
  document.edges.forEach((edge, index) => {
    if ((result.edges[index] ?? 0) > 0) edges.add(edgeId(edge));
  });
  for (const [id, counts] of Object.entries(result.nodes)) {
    if (counts.in > 0 || counts.out > 0) nodes.add(id);
    for (const reason of Object.keys(counts.dropped)) {
      nodes.add(id);
      ways.add(`${id}/${reason}`);
    }
  }
  for (const { event, node, reason } of result.steps) {
    // A failed record that a handler skips or sends to dead letters is a drop with the reason of the failure.
    if ((event === "drop" || event === "end") && reason !== undefined)
      ways.add(`${node}/${reason}`);
  }
  return { nodes, edges, ways };
}

/** Everything that is not covered. */
export function missed(document: TopologyDocument, by: Coverage): Coverage {
  const all = coverable(document);
  const without = (of: ReadonlySet<string>, there: ReadonlySet<string>) =>
    new Set([...of].filter((each) => !there.has(each)));
  return {
    nodes: without(all.nodes, by.nodes),
    edges: without(all.edges, by.edges),
    ways: without(all.ways, by.ways),
  };
}
