/** The bend of a wire that has, or last had, the focus. */

import { create } from "zustand";

interface Bending {
  readonly at: { readonly edge: string; readonly index: number } | null;
}

export const useBending = create<Bending>()(() => ({ at: null }));

/** Focuses a bend of a wire once it is drawn. */
export function focusBend(edge: string, index: number) {
  requestAnimationFrame(() => {
    const all = document.querySelectorAll<HTMLElement>("[data-bend]");
    const own = [...all].filter((each) => each.dataset.bend === edge);
    own[Math.min(index, own.length - 1)]?.focus();
  });
}
