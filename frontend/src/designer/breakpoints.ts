/**
 * Lines at which Python processors stop in a simulation, by node. They are stored in the browser per topology and are
 * not part of the document.
 */

import { create } from "zustand";
import { paramsOf, type TopologyDocument } from "../graph/document";
import { useDesigner } from "./store";

type Lines = Readonly<Record<string, readonly number[]>>;

interface BreakpointsState {
  readonly lines: Lines;
  /** The line at which the current step has stopped. */
  readonly stopped: { readonly node: string; readonly line: number } | null;
  /** Replaces a node's breakpoints. */
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
    // If the storage is full, the breakpoints last until the page is closed.
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

/** The Python code of a node; null if it has none. */
export function codeOf(document: TopologyDocument, node: string): string | null {
  const found = document.nodes.find((each) => each.id === node);
  const code = found === undefined ? undefined : paramsOf(found).code;
  return typeof code === "string" ? code : null;
}

/** The breakpoints in a document's processors, as far as their code is the same as on the canvas. */
export function breakpointsIn(document: TopologyDocument): Record<string, number[]> {
  const here = useDesigner.getState().document;
  const found = Object.entries(useBreakpoints.getState().lines).filter(([node]) => {
    const code = codeOf(document, node);
    return code !== null && code === codeOf(here, node);
  });
  return Object.fromEntries(found.map(([node, lines]) => [node, [...lines]]));
}
