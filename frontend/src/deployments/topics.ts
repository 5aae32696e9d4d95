/** Topics that a version uses and the cluster lacks. None is created without a confirmation. */

import { create } from "zustand";
import { ApiError } from "../api/client";
import { missingTopics } from "../api/deploymentCalls";
import type { DeploymentSettings, MissingTopic } from "../api/types";
import type { TopologyDocument } from "../graph/document";

/** A question that waits for an answer: the missing topics, and the settings of the deployment that then continues. */
export interface Question {
  readonly topics: readonly MissingTopic[];
  readonly settings: DeploymentSettings | null;
  /** What continues, if it is not a deploy of the drawing. */
  readonly then?: () => Promise<void>;
}

export const useQuestion = create<{ question: Question | null }>()(() => ({ question: null }));

/** True if no topic is missing, or if the cluster is unreachable, for which the deployment waits; otherwise asks. */
export async function noneMissing(
  topology: number,
  version: number,
  settings: DeploymentSettings | null,
  then?: () => Promise<void>,
): Promise<boolean> {
  let topics: readonly MissingTopic[];
  try {
    topics = await missingTopics(topology, version, settings?.environment);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return true;
    throw error;
  }
  if (topics.length > 0) {
    useQuestion.setState({
      question: { topics, settings, ...(then === undefined ? {} : { then }) },
    });
  }
  return topics.length === 0;
}

/** The document with a missing topic replaced by another one. */
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
