/** The settings that decide what happens to records that fail. */

import type { Failure } from "../api/types";

const FIELDS: Readonly<Record<string, string>> = {
  processing: "processing_handler",
  deserialization: "deserialization_handler",
};

/** Whether a rule on live data stopped the deployment: it does not depend on the handler. */
export const isRule = ({ cause }: Pick<Failure, "cause">): boolean =>
  cause?.code.startsWith("record_rejected") === true;

/**
 * The parameter that decides about such a failure, of a node or (if `node` is null) of the topology. Null for failures
 * that are not about a single record.
 */
export function handlerOf(
  failure: Pick<Failure, "cause" | "code" | "node" | "parameter" | "record">,
): { readonly node: string | null; readonly parameter: string | null } | null {
  if (failure.record === null) return null;
  if (isRule(failure)) return { node: failure.node, parameter: "rejected" };
  const setting = FIELDS[failure.code];
  if (setting !== undefined) return { node: null, parameter: setting };
  if (failure.code === "timestamp") return { node: failure.node, parameter: "invalid_timestamp" };
  if (failure.code === "production") return { node: failure.node, parameter: failure.parameter };
  return null;
}
