/**
 * Lines at which Python code stops in a simulation, by place: a node, or a setting with a handler
 * (`settings.processing_function`) or a module (`settings.modules.prices`). They are stored in the browser per topology
 * and are not part of the document.
 */

import { create } from "zustand";
import { asObject, type Json, paramsOf, type TopologyDocument } from "../graph/document";
import { useDesigner } from "./store";

type Lines = Readonly<Record<string, readonly number[]>>;

interface BreakpointsState {
  readonly lines: Lines;
  /** The line at which the current step has stopped; `node`: its place. */
  readonly stopped: { readonly node: string; readonly line: number } | null;
  /** Replaces the breakpoints of a place. */
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

const SETTING = "settings.";
const MODULE = "modules.";
const FUNCTION = "_function";

/** The place of a setting's code, by the path of its field. */
export const placeOfSetting = (path: string) => `${SETTING}${path}`;

/** What a place is called: the name of a module or of a setting; null for a node. */
export function nameOfSetting(place: string): string | null {
  if (!place.startsWith(SETTING)) return null;
  const setting = place.slice(SETTING.length);
  return setting.startsWith(MODULE) ? setting.slice(MODULE.length) : setting;
}

/** The code of a module, or of the function of a handler that has one. */
function codeOfSetting(
  settings: Readonly<Record<string, Json>>,
  setting: string,
): Json | undefined {
  if (setting.startsWith(MODULE)) return asObject(settings.modules)[setting.slice(MODULE.length)];
  const handler = `${setting.slice(0, -FUNCTION.length)}_handler`;
  const used = setting.endsWith(FUNCTION) && settings[handler] === "function";
  return used ? settings[setting] : undefined;
}

/** The Python code of a node, of its windows, of a handler or a module; null if it has none. */
export function codeOf(document: TopologyDocument, place: string): string | null {
  if (place.startsWith(SETTING)) {
    const found = codeOfSetting(asObject(document.settings as Json), place.slice(SETTING.length));
    return typeof found === "string" ? found : null;
  }
  const found = document.nodes.find((each) => each.id === place);
  const params = found === undefined ? {} : paramsOf(found);
  const code = params.code ?? asObject(params.window).code;
  return typeof code === "string" ? code : null;
}

/** The breakpoints in a document's Python, as far as their code is the same as on the canvas. */
export function breakpointsIn(document: TopologyDocument): Record<string, number[]> {
  const here = useDesigner.getState().document;
  const found = Object.entries(useBreakpoints.getState().lines).filter(([node]) => {
    const code = codeOf(document, node);
    return code !== null && code === codeOf(here, node);
  });
  return Object.fromEntries(found.map(([node, lines]) => [node, [...lines]]));
}
