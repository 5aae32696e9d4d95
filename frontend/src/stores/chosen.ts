/** The store that the *State* tab shows. Other views set it and open the tab. */

import { create } from "zustand";
import { useView } from "../designer/view";

export const useChosenStore = create<{ store: string | null }>()(() => ({ store: null }));

export function lookInto(store: string): void {
  useChosenStore.setState({ store });
  useView.getState().openBottom("state");
}
