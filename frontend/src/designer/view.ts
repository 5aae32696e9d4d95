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
  /** The id of the open tab in the bottom panel. */
  readonly bottomTab: string;
  readonly bottomOpen: boolean;
  readonly bottomHeight: number;
  /** Whether the bottom panel covers the canvas. */
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

function narrow(): boolean {
  return typeof window !== "undefined" && window.matchMedia?.(NARROW).matches === true;
}

const CLOSED = { leftOpen: false, rightOpen: false, programOpen: false };
const OPEN = { leftOpen: true, rightOpen: true, programOpen: false };

function load(): Partial<ViewState> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export const useView = create<ViewState>()((set) => ({
  leftTab: "palette",
  leftOpen: true,
  rightOpen: true,
  rightWidth: typeof window !== "undefined" && window.innerWidth <= 1380 ? 296 : 340,
  programOpen: false,
  programWidth: 440,
  bottomTab: "problems",
  bottomOpen: false,
  bottomHeight: 260,
  bottomFull: false,
  edgeTypes: false,
  minimap: true,
  ...load(),
  ...(narrow() ? CLOSED : {}),
  set: (view) =>
    set({
      ...(narrow() && view.leftOpen === true ? { ...CLOSED } : {}),
      ...(narrow() && view.rightOpen === true ? { ...CLOSED } : {}),
      ...(narrow() && view.programOpen === true ? { ...CLOSED } : {}),
      ...view,
    }),
  openBottom: (bottomTab) => set({ bottomTab, bottomOpen: true }),
}));

useView.subscribe((state) => {
  try {
    // A panel that is closed because the screen is narrow should be open again on a wide one.
    const { leftOpen, rightOpen, programOpen } = { ...OPEN, ...load() };
    const kept = narrow() ? { ...state, leftOpen, rightOpen, programOpen } : state;
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage, the layout lasts until the page is closed.
  }
});

if (typeof window !== "undefined") {
  // A tablet that is turned upright shows its canvas first.
  window.matchMedia?.(NARROW).addEventListener?.("change", () => {
    useView.setState(narrow() ? CLOSED : { ...OPEN, ...load() });
  });
}
