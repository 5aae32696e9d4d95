import { type RefObject, useEffect } from "react";

/**
 * Closes a floating element when Escape is pressed anywhere, except while an element inside handles Escape itself, such
 * as an open select or completions; Mantine's dialogs use the same attribute for this. However the element closes, the
 * focus returns to `opener`, unless it has moved elsewhere.
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
      // The page may be gone by then.
      const page = document;
      const before = page.activeElement;
      setTimeout(() => {
        const now = page.activeElement;
        if (now === page.body || now === before) opener.current?.focus({ preventScroll: true });
      }, FOCUS_MS);
    };
  }, [opened, close, opener]);
}

/** Milliseconds that a click or a dialog has to take the focus. */
const FOCUS_MS = 10;

/** Marks an element that handles Escape itself. */
export const OWN_ESCAPE = "data-mantine-stop-propagation";
