/** How the designer is laid out for this person in this browser; kept between visits. */

import { create } from "zustand";

export type LeftTab = "palette" | "outline" | "versions";

interface ViewState {
  readonly leftTab: LeftTab;
  readonly leftOpen: boolean;
  readonly rightOpen: boolean;
  readonly rightWidth: number;
  /** The open tab of the bottom panel, by the id the page gave it. */
  readonly bottomTab: string;
  readonly bottomOpen: boolean;
  readonly bottomHeight: number;
  /** Whether the types of all edges are shown, or only of the one under the pointer. */
  readonly edgeTypes: boolean;
  readonly minimap: boolean;
  set(view: Partial<Omit<ViewState, "set" | "openBottom">>): void;
  /** Opens the bottom panel at one of its tabs. */
  openBottom(tab: string): void;
}

const KEY = "millrace.view";

/** Up to this width the side panels lie over the canvas, one at a time; `designer.css` has the same number. */
const NARROW = "(max-width: 1000px)";

function narrow(): boolean {
  return typeof window !== "undefined" && window.matchMedia?.(NARROW).matches === true;
}

const CLOSED = { leftOpen: false, rightOpen: false };
const OPEN = { leftOpen: true, rightOpen: true };

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
  bottomTab: "problems",
  bottomOpen: false,
  bottomHeight: 260,
  edgeTypes: false,
  minimap: true,
  ...load(),
  ...(narrow() ? CLOSED : {}),
  set: (view) =>
    set({
      ...(narrow() && view.leftOpen === true ? { rightOpen: false } : {}),
      ...(narrow() && view.rightOpen === true ? { leftOpen: false } : {}),
      ...view,
    }),
  openBottom: (bottomTab) => set({ bottomTab, bottomOpen: true }),
}));

useView.subscribe((state) => {
  try {
    // What is folded because the screen is narrow is not how the person wants it elsewhere.
    const { leftOpen, rightOpen } = { ...OPEN, ...load() };
    const kept = narrow() ? { ...state, leftOpen, rightOpen } : state;
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage the layout lasts as long as the page.
  }
});

if (typeof window !== "undefined") {
  // Turned upright, a tablet shows its canvas first.
  window.matchMedia?.(NARROW).addEventListener?.("change", () => {
    useView.setState(narrow() ? CLOSED : { ...OPEN, ...load() });
  });
}
