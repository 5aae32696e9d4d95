/** The designer's layout preferences, stored in the browser. */

import { create } from "zustand";

export type LeftTab = "palette" | "outline" | "versions";

interface ViewState {
  readonly leftTab: LeftTab;
  readonly leftOpen: boolean;
  readonly rightOpen: boolean;
  readonly rightWidth: number;
  /** Whether the program is beside the canvas, and its width. */
  readonly programOpen: boolean;
  readonly programWidth: number;
  /** The panel that has made room for the program. */
  readonly yielded: "leftOpen" | "rightOpen" | null;
  /** The id of the open tab in the bottom panel. */
  readonly bottomTab: string;
  readonly bottomOpen: boolean;
  readonly bottomHeight: number;
  /** Whether the bottom panel covers the canvas and the left panel. */
  readonly bottomFull: boolean;
  /** Whether the types of all edges are shown, or only of the one under the pointer. */
  readonly edgeTypes: boolean;
  readonly minimap: boolean;
  set(view: Partial<Omit<ViewState, "set" | "openBottom">>): void;
  /** Opens the bottom panel at one of its tabs. */
  openBottom(tab: string): void;
}

const KEY = "millrace.view";

/** Up to this width the side panels cover the canvas, one at a time; keep in sync with `designer.css`. */
const NARROW = "(max-width: 1100px)";

/** Up to this width, two panels are beside the canvas, not three. */
const MEDIUM = "(max-width: 1500px)";

function matches(query: string): boolean {
  return typeof window !== "undefined" && window.matchMedia?.(query).matches === true;
}

const narrow = () => matches(NARROW);

type Panels = Pick<ViewState, "leftOpen" | "rightOpen" | "programOpen" | "yielded">;

/** The panels for which there is room: one makes room for the program, and is back when that is closed. */
function fitting(panels: Panels, opened?: Partial<Panels>): Partial<Panels> {
  if (narrow()) return {};
  const { leftOpen, programOpen, rightOpen, yielded } = panels;
  if (yielded !== null && (!programOpen || !matches(MEDIUM))) {
    return { [yielded]: true, yielded: null };
  }
  if (!matches(MEDIUM) || !leftOpen || !programOpen || !rightOpen) return {};
  const part = opened?.leftOpen === true ? "rightOpen" : "leftOpen";
  return { [part]: false, yielded: part };
}

const CLOSED = { leftOpen: false, rightOpen: false, programOpen: false };
const OPEN = { leftOpen: true, rightOpen: true, programOpen: false, yielded: null };

function load(): Partial<ViewState> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

function loadPanels(): Panels {
  const panels = { ...OPEN, ...load() };
  return { ...panels, ...fitting(panels) };
}

export const useView = create<ViewState>()((set) => ({
  leftTab: "palette",
  ...OPEN,
  rightWidth: typeof window !== "undefined" && window.innerWidth <= 1380 ? 296 : 340,
  programWidth: typeof window !== "undefined" && window.innerWidth <= 1380 ? 400 : 480,
  bottomTab: "problems",
  bottomOpen: false,
  bottomHeight: 260,
  bottomFull: false,
  edgeTypes: false,
  minimap: true,
  ...load(),
  ...(narrow() ? CLOSED : loadPanels()),
  set: (view) =>
    set((state) => {
      // A bottom panel over the canvas is over the left panel as well.
      if (state.bottomOpen && state.bottomFull && view.leftOpen !== undefined) {
        view = { ...view, leftOpen: true, bottomFull: false };
      }
      const opens = view.leftOpen || view.rightOpen || view.programOpen;
      const after = { ...state, ...(narrow() && opens ? CLOSED : {}), ...view };
      return { ...after, ...fitting(after, view) };
    }),
  openBottom: (bottomTab) => set({ bottomTab, bottomOpen: true }),
}));

useView.subscribe((state) => {
  try {
    // A panel that is closed because the screen is narrow should be open again on a wide one.
    const { leftOpen, programOpen, rightOpen, yielded } = { ...OPEN, ...load() };
    const kept = narrow() ? { ...state, leftOpen, programOpen, rightOpen, yielded } : state;
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage, the layout lasts until the page is closed.
  }
});

if (typeof window !== "undefined") {
  // A tablet that is turned upright shows its canvas first.
  window.matchMedia?.(NARROW).addEventListener?.("change", () => {
    useView.setState(narrow() ? CLOSED : loadPanels());
  });
  window.matchMedia?.(MEDIUM).addEventListener?.("change", () => {
    useView.setState((state) => fitting(state));
  });
}
