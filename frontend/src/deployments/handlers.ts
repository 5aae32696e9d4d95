/** Where it is decided what happens to records that fail. */

import type { Failure } from "../api/types";

const FIELDS: Readonly<Record<string, string>> = {
  processing: "processing_handler",
  deserialization: "deserialization_handler",
};

/**
 * The field that decides about a failure like this one: of the topology (`node` is null) or of the node. Null for
 * failures that are not about one record.
 */
export function handlerOf(
  failure: Pick<Failure, "code" | "node" | "parameter" | "record">,
): { readonly node: string | null; readonly parameter: string | null } | null {
  if (failure.record === null) return null;
  const setting = FIELDS[failure.code];
  if (setting !== undefined) return { node: null, parameter: setting };
  if (failure.code === "timestamp") return { node: failure.node, parameter: "invalid_timestamp" };
  if (failure.code === "production") return { node: failure.node, parameter: failure.parameter };
  return null;
}
