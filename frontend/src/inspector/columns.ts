/** The columns available to an expression, with their types as far as they are known. */

import type { CompileResult, PortType } from "../api/types";
import type { Format } from "../graph/catalog";
import {
  asObject,
  type DocumentNode,
  type Json,
  paramsOf,
  sourcePort,
  type TopologyDocument,
  targetPort,
} from "../graph/document";
import { readType, type SparkType } from "../graph/types";

export interface Column {
  readonly name: string;
  /** Null while the compiler has not inferred it. */
  readonly type: SparkType | null;
}

function typed(text: string | undefined): SparkType | null {
  return text === undefined || text === "" ? null : readType(text);
}

function plain(name: string): SparkType {
  return { name, fields: [], parts: [] };
}

const METADATA: readonly Column[] = [
  { name: "timestamp", type: plain("TIMESTAMP") },
  { name: "headers", type: { name: "MAP", fields: [], parts: [plain("STRING"), plain("BINARY")] } },
  { name: "topic", type: plain("STRING") },
  { name: "partition", type: plain("INT") },
  { name: "offset", type: plain("BIGINT") },
];

/** The record type at a node's input port, by default its first connected one. */
export function flowingInto(
  document: TopologyDocument,
  result: CompileResult | null,
  node: string,
  port?: string,
): PortType | undefined {
  const edge = document.edges.find(
    (each) =>
      each.target === node &&
      targetPort(each) !== "store" &&
      (port === undefined || targetPort(each) === port),
  );
  return edge === undefined ? undefined : result?.ports[edge.source]?.[sourcePort(edge)];
}

/** The type of a source's format: that of its schema, else the type of the format itself. */
function formatType(value: Json | undefined, formats: readonly Format[]): SparkType | null {
  const { format, schema } = asObject(value);
  if (typeof schema === "string" && schema.trim() !== "") return readType(schema);
  const type = formats.find((each) => each.format === format)?.type;
  return type == null ? null : readType(type);
}

/**
 * The columns of an expression context from the catalog. `port` is the expression's input, if the node has several.
 */
export function columnsOf(
  context: string,
  node: DocumentNode,
  document: TopologyDocument,
  result: CompileResult | null,
  formats: readonly Format[] = [],
  port?: string,
): Column[] {
  const params = paramsOf(node);
  const input = flowingInto(document, result, node.id, port);
  const fed = document.edges.some(
    (edge) => edge.target === node.id && targetPort(edge) !== "store",
  );
  const key = {
    name: "key",
    type: typed(input?.key) ?? (fed ? null : formatType(params.key, formats)),
  };
  const value = {
    name: "value",
    type: typed(input?.value) ?? (fed ? null : formatType(params.value, formats)),
  };
  const timestamp = METADATA.slice(0, 1);
  const aggregate =
    typeof params.type === "string"
      ? readType(params.type)
      : (typed(result?.ports[node.id]?.out?.value) ?? value.type);
  if (context.startsWith("join") || context === "joiner") {
    return [
      key,
      { name: "left", type: typed(flowingInto(document, result, node.id, "left")?.value) },
      { name: "right", type: typed(flowingInto(document, result, node.id, "right")?.value) },
      ...timestamp,
      ...(context === "join_mapped"
        ? [
            {
              name: "mapped_key",
              type: typed(flowingInto(document, result, node.id, "right")?.key),
            },
          ]
        : []),
    ];
  }
  if (/merge/.test(context)) {
    return [key, { name: "left", type: aggregate }, { name: "right", type: aggregate }];
  }
  if (/init|nothing|none/.test(context)) return [];
  if (/aggregat|reduc|agg/.test(context)) {
    return [{ name: "agg", type: aggregate }, key, value, ...timestamp];
  }
  if (/foreign|left/.test(context)) {
    const left = flowingInto(document, result, node.id, "left");
    return [
      { name: "key", type: typed(left?.key) },
      { name: "value", type: typed(left?.value) },
    ];
  }
  return [key, value, ...METADATA];
}
