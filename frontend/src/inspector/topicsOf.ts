import { useDesigner } from "../designer/store";
import { type DocumentNode, paramsOf } from "../graph/document";
import { withDefaults } from "../graph/parameters";

/** The topics that a node reads or writes, with the defaults of the topology's parameters. */
export function topicsOf(given: DocumentNode | null): string[] {
  if (given === null) return [];
  const { document } = useDesigner.getState();
  const [node = given] = withDefaults({ ...document, nodes: [given] }).nodes;
  const { topic, topics } = paramsOf(node);
  const all = [topic, ...(Array.isArray(topics) ? topics : [])];
  return all.filter((each): each is string => typeof each === "string" && each !== "");
}
