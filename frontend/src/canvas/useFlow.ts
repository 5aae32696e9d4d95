/** React Flow's nodes and edges: those of the document, with the intermediate changes of a gesture. */

import {
  applyEdgeChanges,
  applyNodeChanges,
  type EdgeChange,
  type NodeChange,
  useStoreApi,
} from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { drawnOf, foldedOf } from "../designer/drawn";
import { type DesignerState, useDesigner } from "../designer/store";
import { folded, fragmentAround, fragmentOfGroup, groupsOf, moveNotes } from "../graph/drawing";
import { snap } from "../graph/geometry";
import type { Drawn } from "../graph/opening";
import {
  type FlowEdge,
  type FlowNode,
  flowEdges,
  flowGroups,
  flowNodes,
  flowNotes,
  type GroupFlowNode,
  isOfFragment,
  isOperator,
  type NoteFlowNode,
  nodesOfFrame,
} from "./flow";

const NO_GROUPS: GroupFlowNode[] = [];
const NONE: readonly string[] = [];

/**
 * Drawn groups, from where their nodes are at this moment. `drawn`: what the nodes were made of. `lit`: the chosen fragments
 * among those that are opened.
 */
function useGroups(
  nodes: readonly FlowNode[],
  { document, owners }: Pick<Drawn, "document" | "owners">,
  lit: readonly string[],
): GroupFlowNode[] {
  const catalog = useDesigner((state) => state.catalog);
  const folds = useDesigner((state) => state.folds);
  const readOnly = useDesigner((state) => state.readOnly);
  return useMemo(() => {
    if (catalog === null || groupsOf(document).length === 0) return NO_GROUPS;
    const own = nodes.filter(isOperator);
    const places = new Map(own.map((node) => [node.id, node.position]));
    // Not those of the store, with which these nodes agree only after the next effect.
    const chosen = own
      .filter((node) => node.selected === true && node.data.owner === undefined)
      .map((node) => node.id);
    const notes = new Map(
      nodes.flatMap((node) =>
        isNoteWithin(node) ? [[node.data.note.id, node.position] as const] : [],
      ),
    );
    const moved = notes.size === 0 ? document : moveNotes(document, notes);
    const now = folded(moved, catalog, folds, (node) => places.get(node.id) ?? { x: 0, y: 0 });
    return flowGroups(now, new Set([...chosen, ...lit]), readOnly, owners);
  }, [nodes, lit, document, owners, catalog, folds, readOnly]);
}

/** Whether a node of the canvas is a note of a fragment that is opened in place. */
function isNoteWithin(node: FlowNode): node is NoteFlowNode {
  return node.type === "note" && fragmentAround(node.data.note.id) !== null;
}

/** Changes of groups as changes of the nodes in them: groups have no place and no selection of their own. */
function ofNodes(
  changes: readonly NodeChange<FlowNode>[],
  groups: readonly GroupFlowNode[],
  nodes: readonly FlowNode[],
): NodeChange<FlowNode>[] {
  const own = new Set(
    changes.flatMap((change) => ("id" in change ? `${change.type} ${change.id}` : [])),
  );
  return changes.flatMap((change): NodeChange<FlowNode>[] => {
    const group = "id" in change ? groups.find((each) => each.id === change.id) : undefined;
    if (group === undefined) return [change];
    const members = new Set(group.data.frame.nodes);
    if (change.type === "select" && isOfFragment(group)) return [];
    if (change.type === "select") {
      return [...members].map((id) => ({ id, type: "select", selected: change.selected }));
    }
    if (change.type !== "position" || change.position === undefined) return [];
    const by = snap({
      x: change.position.x - group.position.x,
      y: change.position.y - group.position.y,
    });
    // The notes of opened fragments that are moved as a whole.
    const fragments = new Set(
      groups.flatMap(({ data }) => {
        const fragment = fragmentOfGroup(data.group);
        return fragment !== null && data.frame.nodes.every((id) => members.has(id))
          ? [fragment]
          : [];
      }),
    );
    const goesAlong = (node: FlowNode) =>
      members.has(node.id) ||
      (isNoteWithin(node) && fragments.has(fragmentAround(node.data.note.id) ?? ""));
    return nodes
      .filter((node) => goesAlong(node) && !own.has(`position ${node.id}`))
      .map(({ id, position }) => ({
        id,
        type: "position",
        position: { x: position.x + by.x, y: position.y + by.y },
      }));
  });
}

/** The nodes that are selected, also one within a fragment. */
function chosenIn({ inner, nodes }: Pick<DesignerState["selection"], "inner" | "nodes">) {
  return new Set(inner === undefined ? nodes : [...nodes, inner]);
}

/** The new list, or the one before if it has the same items. */
function unlessSame<Item>(before: Item[], next: Item[]): Item[] {
  const same = before.length === next.length && before.every((item, at) => item === next[at]);
  return same ? before : next;
}

/** `noteChanges`: gets what React Flow changes before it is applied. */
export function useFlow(
  noteChanges: (changes: readonly NodeChange<FlowNode>[] | readonly EdgeChange<FlowEdge>[]) => void,
) {
  const whole = useDesigner((state) => state.document);
  const drawn = useDesigner(drawnOf);
  const { document, opened, owners } = drawn;
  const catalog = useDesigner((state) => state.catalog);
  const selection = useDesigner((state) => state.selection);
  const readOnly = useDesigner((state) => state.readOnly);
  const { hidden } = useDesigner(foldedOf);
  const flowStore = useStoreApi();
  // All of them are there with the first rendering, so that nothing is drawn before them.
  const [nodes, setNodes] = useState<FlowNode[]>(() =>
    catalog === null
      ? []
      : [
          ...flowNotes(document, new Set(selection.notes), [], readOnly),
          ...flowNodes({ document, owners }, catalog, chosenIn(selection), [], readOnly, hidden),
        ],
  );
  // Frames of a newer drawing would show a selection that these nodes do not have yet, and React Flow would report it.
  const [made, setMade] = useState<Drawn>(drawn);
  const [edges, setEdges] = useState<FlowEdge[]>(() =>
    flowEdges(drawn, whole, new Set(selection.edges), [], hidden),
  );
  // Frames stand for the nodes of opened fragments. They and the other nodes must always agree with one selection: React
  // Flow reports each one that it sees.
  const [lit, setLit] = useState<readonly string[]>(NONE);
  useEffect(() => {
    if (catalog === null) return;
    setMade(drawn);
    setLit((before) => {
      const now = selection.nodes.filter((id) => opened.has(id));
      return now.join() === before.join() ? before : now;
    });
    const chosen = chosenIn({ nodes: selection.nodes, inner: selection.inner });
    const notes = new Set(selection.notes);
    setNodes((before) => {
      // The box of a selection made with the mouse is hidden once something else is selected.
      const marked = before.filter((node) => isOperator(node) && node.selected === true);
      if (marked.length !== chosen.size || marked.some((node) => !chosen.has(node.id))) {
        queueMicrotask(() => flowStore.setState({ nodesSelectionActive: false }));
      }
      return unlessSame(before, [
        ...flowNotes(document, notes, before, readOnly),
        ...flowNodes({ document, owners }, catalog, chosen, before, readOnly, hidden),
      ]);
    });
  }, [
    drawn,
    document,
    opened,
    owners,
    catalog,
    selection.nodes,
    selection.inner,
    selection.notes,
    readOnly,
    hidden,
    flowStore,
  ]);
  useEffect(() => {
    setEdges((before) =>
      unlessSame(before, flowEdges(drawn, whole, new Set(selection.edges), before, hidden)),
    );
  }, [drawn, whole, selection.edges, hidden]);
  const groups = useGroups(nodes, made, lit);
  const shown = useMemo(
    () => (groups.length === 0 ? nodes : [...groups, ...nodes]),
    [groups, nodes],
  );
  const shownGroups = useRef(groups);
  shownGroups.current = groups;
  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      noteChanges(changes);
      const kept = changes.filter((change) => change.type !== "remove");
      for (const change of kept) {
        if (change.type !== "select") continue;
        const frame = shownGroups.current.find(({ id }) => id === change.id);
        if (frame === undefined || !isOfFragment(frame)) continue;
        const own = nodesOfFrame(frame.data.frame);
        setLit((now) => {
          const others = now.filter((id) => !own.includes(id));
          return change.selected ? [...others, ...own] : others;
        });
      }
      setNodes((now) => applyNodeChanges(ofNodes(kept, shownGroups.current, now), now));
    },
    [noteChanges],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<FlowEdge>[]) => {
      noteChanges(changes);
      const kept = changes.filter((change) => change.type !== "remove");
      setEdges((now) => applyEdgeChanges(kept, now));
    },
    [noteChanges],
  );
  return { nodes: shown, setNodes, edges, onNodesChange, onEdgesChange };
}
