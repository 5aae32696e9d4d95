/** Which store the tab *State* shows; other views choose one and open the tab. */

import { create } from "zustand";
import { useView } from "../designer/view";

export const useChosenStore = create<{ store: string | null }>()(() => ({ store: null }));

export function lookInto(store: string): void {
  useChosenStore.setState({ store });
  useView.getState().openBottom("state");
}
