/** Key presses in the notation of shortcuts. */

const mac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** A key press in the notation of shortcuts: `Mod+Shift+Z`, `Delete`, `ArrowLeft`. */
export function pressed(event: KeyboardEvent): string {
  const parts: string[] = [];
  if (mac ? event.metaKey : event.ctrlKey) parts.push("Mod");
  if (event.altKey) parts.push("Alt");
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  // A sign such as ? already implies Shift; for letters and named keys, Shift is a modifier.
  if (event.shiftKey && (event.key.length > 1 || /[A-Z]/.test(key))) parts.push("Shift");
  parts.push(key);
  return parts.join("+");
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input, textarea, select, [contenteditable]:not([contenteditable=false])") !==
      null
  );
}
