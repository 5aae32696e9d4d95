/**
 * Lines at which Python processors stop in a simulation, by node. They are kept in this browser for
 * each topology: the document does not have them.
 */

import { create } from "zustand";
import { paramsOf, type TopologyDocument } from "../graph/document";
import { useDesigner } from "./store";

type Lines = Readonly<Record<string, readonly number[]>>;

interface BreakpointsState {
  readonly lines: Lines;
  /** The line at which the step that is shown has stopped. */
  readonly stopped: { readonly node: string; readonly line: number } | null;
  /** Takes the place of a node's breakpoints. */
  setLines(node: string, lines: readonly number[]): void;
  stopAt(stopped: BreakpointsState["stopped"]): void;
}

const keyOf = (topology: number) => `millrace.breakpoints.${topology}`;

function load(topology: number | null): Lines {
  if (topology === null) return {};
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(topology)) ?? "{}");
    return kept !== null && typeof kept === "object" ? (kept as Lines) : {};
  } catch {
    return {};
  }
}

function keep(topology: number, lines: Lines) {
  try {
    localStorage.setItem(keyOf(topology), JSON.stringify(lines));
  } catch {
    // A full storage keeps them until the page is left.
  }
}

export const useBreakpoints = create<BreakpointsState>()((set, get) => ({
  lines: load(useDesigner.getState().topologyId),
  stopped: null,
  setLines: (node, lines) => {
    const { [node]: _, ...others } = get().lines;
    const next = lines.length === 0 ? others : { ...others, [node]: lines };
    set({ lines: next });
    const { topologyId } = useDesigner.getState();
    if (topologyId !== null) keep(topologyId, next);
  },
  stopAt: (stopped) => set({ stopped }),
}));

useDesigner.subscribe((state, before) => {
  if (state.topologyId === before.topologyId) return;
  useBreakpoints.setState({ lines: load(state.topologyId), stopped: null });
});

/** The Python of a node; null where it has none. */
export function codeOf(document: TopologyDocument, node: string): string | null {
  const found = document.nodes.find((each) => each.id === node);
  const code = found === undefined ? undefined : paramsOf(found).code;
  return typeof code === "string" ? code : null;
}

/** The breakpoints in processors of a document whose code is that on the canvas. */
export function breakpointsIn(document: TopologyDocument): Record<string, number[]> {
  const here = useDesigner.getState().document;
  const found = Object.entries(useBreakpoints.getState().lines).filter(([node]) => {
    const code = codeOf(document, node);
    return code !== null && code === codeOf(here, node);
  });
  return Object.fromEntries(found.map(([node, lines]) => [node, [...lines]]));
}
