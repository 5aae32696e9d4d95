/** Topics that a version names and the cluster lacks: nothing is created without a confirmation. */

import { create } from "zustand";
import { ApiError } from "../api/client";
import { missingTopics } from "../api/deploymentCalls";
import type { DeploymentSettings, MissingTopic, NewTopic } from "../api/types";
import type { TopologyDocument } from "../graph/document";
import { phrase } from "../ui/i18n";

/** What waits for an answer: the topics, and the deployment that goes on afterwards. */
export interface Question {
  readonly topics: readonly MissingTopic[];
  readonly settings: DeploymentSettings | null;
}

export const useQuestion = create<{ question: Question | null }>()(() => ({ question: null }));

/** True where nothing is missing; else the question is shown. A cluster that is away is waited for by the deployment. */
export async function noneMissing(
  topology: number,
  version: number,
  settings: DeploymentSettings | null,
): Promise<boolean> {
  let topics: readonly MissingTopic[];
  try {
    topics = await missingTopics(topology, version);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return true;
    throw error;
  }
  if (topics.length > 0) useQuestion.setState({ question: { topics, settings } });
  return topics.length === 0;
}

/** How long a new topic keeps its records; "" is what the broker does by default. */
export const RETENTIONS = [
  { value: "", label: phrase("Broker's default") },
  { value: String(24 * 3_600_000), label: phrase("1 day") },
  { value: String(7 * 24 * 3_600_000), label: phrase("7 days") },
  { value: "-1", label: phrase("Forever") },
];

/** What is created for a missing topic. */
export function newTopic(name: string, partitions: number, retention: string): NewTopic {
  return retention === ""
    ? { name, partitions }
    : { name, partitions, retention_ms: Number(retention) };
}

/** The document with another topic in the parameter that names a missing one. */
export function withTopic(
  document: TopologyDocument,
  { node, parameter, name }: MissingTopic,
  instead: string,
): TopologyDocument {
  const put = (params: Readonly<Record<string, unknown>> = {}) => {
    const value = params[parameter];
    const other = Array.isArray(value)
      ? value.map((each) => (each === name ? instead : each))
      : instead;
    return { ...params, [parameter]: other };
  };
  if (node === null) return { ...document, settings: put(document.settings) } as TopologyDocument;
  return {
    ...document,
    nodes: document.nodes.map((each) =>
      each.id === node ? { ...each, params: put(each.params) } : each,
    ),
  } as TopologyDocument;
}
