/** How the designer is laid out for this person in this browser; kept between visits. */

import { create } from "zustand";

export type LeftTab = "palette" | "outline" | "versions";

export interface ViewState {
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
  set: (view) => set(view),
  openBottom: (bottomTab) => set({ bottomTab, bottomOpen: true }),
}));

useView.subscribe((state) => {
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    // Without storage the layout lasts as long as the page.
  }
});
