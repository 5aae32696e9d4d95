import { type RefObject, useEffect } from "react";

/**
 * Closes what floats when Escape is pressed anywhere, unless a list opened within has the key: an open select, or
 * completions. Those carry the attribute by which Mantine's dialogs know them as well. However it closes, the focus goes
 * back to `opener`, unless it has gone elsewhere.
 */
export function useEscape(
  opened: boolean,
  close: () => void,
  opener: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    if (!opened) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      const inner = event.target instanceof Element && event.target.closest(`[${OWN_ESCAPE}=true]`);
      if (inner) return;
      event.preventDefault();
      close();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => {
      removeEventListener("keydown", onKey, { capture: true });
      const before = document.activeElement;
      setTimeout(() => {
        const now = document.activeElement;
        if (now === document.body || now === before) opener.current?.focus({ preventScroll: true });
      }, FOCUS_MS);
    };
  }, [opened, close, opener]);
}

/** So long a click or a dialog has to take the focus. */
const FOCUS_MS = 10;

/** Marks an element that takes Escape itself. */
export const OWN_ESCAPE = "data-mantine-stop-propagation";
