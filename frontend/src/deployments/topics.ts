/** Topics that a version uses and the cluster lacks. None is created without a confirmation. */

import { create } from "zustand";
import { ApiError } from "../api/client";
import { missingTopics } from "../api/deploymentCalls";
import type { DeploymentSettings, MissingTopic } from "../api/types";
import { findNode, type Json, paramsOf, type TopologyDocument } from "../graph/document";
import {
  ENVIRONMENTS,
  inEnvironment,
  parametersOf,
  placeOf,
  setParameter,
  setValue,
  withDefaults,
} from "../graph/parameters";

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

/** Where the name of a missing topic is: written out, as the value of a parameter of the topology, or made of several texts. */
type Origin = { readonly written: true } | { readonly parameter: string } | null;

export function originOf(
  document: TopologyDocument,
  topic: MissingTopic,
  environment: string | null,
): Origin {
  const named = (of: TopologyDocument) => {
    const value = paramsAt(of, topic.node)[topic.parameter];
    return Array.isArray(value) ? value : [value];
  };
  const written = named(document);
  if (written.includes(topic.name)) return { written: true };
  const filled = named(withDefaults(inEnvironment(document, environment)));
  const place = written[filled.indexOf(topic.name)];
  const declared = parametersOf(document).find(([name]) => placeOf(name) === place);
  return declared === undefined ? null : { parameter: declared[0] };
}

function paramsAt(document: TopologyDocument, node: string | null): Readonly<Record<string, Json>> {
  if (node === null) return (document.settings ?? {}) as Readonly<Record<string, Json>>;
  const found = findNode(document, node);
  return found === undefined ? {} : paramsOf(found);
}

/** The document with a missing topic replaced by another one; where a parameter names it, with another value of that. */
export function withTopic(
  document: TopologyDocument,
  topic: MissingTopic,
  instead: string,
  environment: string | null,
): TopologyDocument {
  const { name, node, parameter } = topic;
  const origin = originOf(document, topic, environment);
  if (origin === null) return document;
  if ("parameter" in origin) {
    const known = ENVIRONMENTS.find((each) => each === environment);
    return known === undefined
      ? setParameter(document, origin.parameter, { default: instead })
      : setValue(document, origin.parameter, known, instead);
  }
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
