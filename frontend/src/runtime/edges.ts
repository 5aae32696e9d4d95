/** Records over the edges of a running deployment, as text for lists and as inputs of simulations. */

import type { EdgeRecord } from "../api/types";
import type { DocumentEdge, TopologyDocument } from "../graph/document";
import { headersCell } from "../simulate/kept";
import { cellOf, type InputRow, newRow, sourcesOf } from "../simulate/scenario";

/** The position of the input record that caused it; null if no record did. */
export function placeOf(record: EdgeRecord): string | null {
  const { offset, partition, topic } = record;
  return topic === null ? null : `${topic}-${partition} @ ${offset}`;
}

/** Records as JSON, newest first as they are listed. */
export function asJson(records: readonly EdgeRecord[]): string {
  return JSON.stringify(records, undefined, 2);
}

/** Records of a source's edge as inputs of a simulation, oldest first. Records that were cut off are omitted. */
export function inputsOf(
  document: TopologyDocument,
  edge: DocumentEdge,
  records: readonly EdgeRecord[],
): readonly InputRow[] {
  const sources = sourcesOf(document).filter((each) => each.node.id === edge.source);
  return [...records].reverse().flatMap((record) => {
    const source = sources.find((each) => each.topic === record.topic);
    if (source === undefined || record.key_cut === true || record.value_cut === true) return [];
    return [
      newRow({
        topic: source.topic,
        key: cellOf(record.key, source.keyFormat),
        value: cellOf(record.value, source.valueFormat),
        timestamp: String(record.timestamp),
        partition: String(record.partition ?? ""),
        headers: headersCell(record.headers),
      }),
    ];
  });
}
