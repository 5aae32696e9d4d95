import "./inspector.css";
import "./fields.css";
import { type ComponentType, Suspense } from "react";
import { useDesigner } from "../designer/store";
import { edgeId, findNode } from "../graph/document";
import { later } from "../ui/later";
import { DocumentForm } from "./DocumentForm";
import { EdgeForm } from "./EdgeForm";
import { ManyForm } from "./ManyForm";

const NodeForm = later(async () => (await import("./NodeForm")).NodeForm);

/** The form of the selection: a node, an edge, several nodes, or the whole topology. */
export function Inspector(props: { nodeRuntime: ComponentType<{ node: string }> | undefined }) {
  const selection = useDesigner((state) => state.selection);
  const only = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  const node = useDesigner((state) =>
    only === undefined ? undefined : findNode(state.document, only),
  );
  const chosen =
    selection.nodes.length === 0 && selection.edges.length === 1 ? selection.edges[0] : undefined;
  const edge = useDesigner((state) =>
    chosen === undefined ? undefined : state.document.edges.find((each) => edgeId(each) === chosen),
  );
  if (node !== undefined) {
    return (
      <Suspense>
        <NodeForm key={node.id} node={node} nodeRuntime={props.nodeRuntime} />
      </Suspense>
    );
  }
  if (edge !== undefined) return <EdgeForm key={chosen} edge={edge} />;
  if (selection.nodes.length > 1) return <ManyForm count={selection.nodes.length} />;
  return <DocumentForm />;
}
