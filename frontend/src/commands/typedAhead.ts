/**
 * What is typed after a command that opens a field, before the field has the focus: it goes into the field, and runs no
 * commands. The part of the page with the field may have to be loaded first.
 */

import { isTyping } from "../ui/keys";

/** For how long the field is waited for. */
const PATIENCE_MS = 3_000;

let held: string | null = null;
let ending: AbortController | null = null;

/** Holds what is typed until a field has the focus, or somebody does something else. */
export function holdTyped(): void {
  release();
  held = "";
  ending = new AbortController();
  const { signal } = ending;
  const timer = setTimeout(release, PATIENCE_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
  window.addEventListener("focusin", arrived, { signal, capture: true });
  window.addEventListener("pointerdown", release, { signal, capture: true });
}

function release(): void {
  ending?.abort();
  ending = null;
  held = null;
}

function arrived({ target }: FocusEvent): void {
  const field = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
  if (!isTyping(target)) return;
  const text = held ?? "";
  release();
  if (text === "" || !field) return;
  queueMicrotask(() => {
    target.setRangeText(text, target.selectionStart ?? 0, target.selectionEnd ?? 0, "end");
    target.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/** Whether a key press was held. */
export function wasHeld(event: KeyboardEvent): boolean {
  if (held === null || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Escape") {
    release();
    return false;
  }
  if (event.key === "Backspace") held = held.slice(0, -1);
  else if (event.key.length === 1) held += event.key;
  else return false;
  return true;
}
