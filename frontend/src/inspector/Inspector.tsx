import "./inspector.css";
import "./fields.css";
import { type ComponentType, Suspense } from "react";
import { drawnOf, foldedOf } from "../designer/drawn";
import { useDesigner } from "../designer/store";
import { edgeId, findNode, labelOf } from "../graph/document";
import { groupOfExactly, notesOf } from "../graph/drawing";
import { later } from "../ui/later";
import { DocumentForm } from "./DocumentForm";
import { EdgeForm } from "./EdgeForm";
import { ManyForm } from "./ManyForm";

const NodeForm = later(async () => (await import("./NodeForm")).NodeForm);
const GroupForm = later(async () => (await import("./MarkForms")).GroupForm);
const NoteForm = later(async () => (await import("./MarkForms")).NoteForm);

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
    chosen === undefined
      ? undefined
      : (state.document.edges.find((each) => edgeId(each) === chosen) ??
        drawnOf(state).document.edges.find((each) => edgeId(each) === chosen)),
  );
  const group = useDesigner((state) => groupOfExactly(state.document, state.selection.nodes));
  const onlyNote = selection.nodes.length === 0 && selection.notes?.length === 1;
  const note = useDesigner((state) =>
    onlyNote ? notesOf(state.document).find((each) => each.id === selection.notes?.[0]) : undefined,
  );
  // A group of one node has the form of the node unless it is collapsed.
  const stands = useDesigner(
    (state) =>
      group !== undefined &&
      (only === undefined || foldedOf(state).hidden.get(only)?.collapsed === true),
  );
  if (group !== undefined && stands) {
    return (
      <Suspense>
        <GroupForm key={group.id} group={group} />
      </Suspense>
    );
  }
  if (note !== undefined) {
    return (
      <Suspense>
        <NoteForm key={note.id} note={note} />
      </Suspense>
    );
  }
  if (node !== undefined) {
    return (
      <Suspense>
        <h2 className="m-hidden">{labelOf(node)}</h2>
        <NodeForm key={node.id} node={node} nodeRuntime={props.nodeRuntime} />
      </Suspense>
    );
  }
  if (edge !== undefined) return <EdgeForm key={chosen} edge={edge} />;
  if (selection.nodes.length > 1) return <ManyForm count={selection.nodes.length} />;
  return <DocumentForm />;
}
