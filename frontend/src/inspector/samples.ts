/** Sample records for the expressions of a node. */

import type { ExpressionTrial, PortType } from "../api/types";
import type { DesignerServices } from "../designer/services";
import { useSimulated } from "../designer/simulated";
import { useDesigner } from "../designer/store";
import {
  type DocumentNode,
  edgeId,
  findNode,
  paramsOf,
  sourcePort,
  targetPort,
} from "../graph/document";
import { withDefaults } from "../graph/parameters";
import { type PinnedRecord, pinOn } from "../graph/pins";
import { topicsOf } from "./topicsOf";

/** As many records as the server evaluates at once. */
const MOST = 5;

export interface Samples {
  readonly records: readonly PinnedRecord[];
  readonly types: PortType;
  readonly from: "simulation" | "pins" | "topic";
  /** The topic of the records, for those of a topic. */
  readonly topic?: string;
}

/**
 * Records that arrive at an input of a node, or that a source reads: of the last simulation, else pinned ones, else the
 * latest ones of the topic if it is read right before. Null if there are none or their types are not known.
 */
export async function samplesAt(
  services: DesignerServices,
  node: DocumentNode,
  port: string | undefined,
): Promise<Samples | null> {
  const { document, result } = useDesigner.getState();
  const edge = document.edges.find(
    (each) =>
      each.target === node.id &&
      targetPort(each) !== "store" &&
      (port === undefined || targetPort(each) === port),
  );
  const types =
    edge === undefined
      ? result?.ports[node.id]?.out
      : result?.ports[edge.source]?.[sourcePort(edge)];
  if (types === undefined) return null;
  const usable = (found: readonly PinnedRecord[]) =>
    // The expressions of a table are not evaluated for deletes.
    // Bytes that could not be read have neither a key nor a value.
    found
      .filter(({ key, value }) => key !== undefined && value !== undefined)
      .filter((each) => types.role === "stream" || each.value !== null)
      .slice(0, MOST);
  if (edge !== undefined) {
    const simulated = usable(useSimulated.getState().passed?.(edge.source, sourcePort(edge)) ?? []);
    if (simulated.length > 0) return { records: simulated, types, from: "simulation" };
    const pinned = usable(pinOn(document, edgeId(edge))?.records ?? []);
    if (pinned.length > 0) return { records: pinned, types, from: "pins" };
  }
  const source = edge === undefined ? node : (findNode(document, edge.source) ?? node);
  const [topic] = topicsOf(source);
  const { key, value } = paramsOf(
    withDefaults({ ...document, nodes: [source] }).nodes[0] ?? source,
  );
  if (!source.kind.startsWith("source.") || topic === undefined) return null;
  const records = usable(await services.latest(topic, { key, value } as never));
  return records.length === 0 ? null : { records, types, from: "topic", topic };
}

/** The request that evaluates an expression, with the defaults of the topology's parameters. */
export function trialOf(text: string, samples: Samples): ExpressionTrial {
  const { document } = useDesigner.getState();
  const given = { id: "tried", kind: "map_values", params: { value: text } };
  const [node = given] = withDefaults({ ...document, nodes: [given] }).nodes;
  return {
    expression: String(paramsOf(node).value ?? text),
    types: { key: samples.types.key, value: samples.types.value },
    records: samples.records.map(({ headers, key, partition, timestamp, value }) => ({
      key,
      value,
      timestamp,
      ...(partition === undefined ? {} : { partition }),
      ...(headers === undefined ? {} : { headers }),
      ...(samples.topic === undefined ? {} : { topic: samples.topic }),
    })) as ExpressionTrial["records"],
  };
}
