import { type RefObject, useEffect } from "react";

/**
 * Closes what floats when Escape is pressed anywhere, unless a list opened within has the key: an open select, or
 * completions. Those carry the attribute by which Mantine's dialogs know them as well. The focus goes back to `opener`.
 */
export function useEscape(
  opened: boolean,
  close: () => void,
  opener?: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    if (!opened) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      const inner = event.target instanceof Element && event.target.closest(`[${OWN_ESCAPE}=true]`);
      if (inner) return;
      event.preventDefault();
      close();
      opener?.current?.focus();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [opened, close, opener]);
}

/** Marks an element that takes Escape itself. */
export const OWN_ESCAPE = "data-mantine-stop-propagation";
