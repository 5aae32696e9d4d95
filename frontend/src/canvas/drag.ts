/** Kinds that are dragged from the palette, and the edge under the pointer. */

export const KIND_MIME = "application/x-millrace-kind";

/** The id of the wire at a position on the screen; null if there is none, or if a node covers it. */
export function wireAt(x: number, y: number, through?: string): string | null {
  for (const element of document.elementsFromPoint(x, y)) {
    const node = element.closest<HTMLElement>(".react-flow__node");
    if (node !== null && node.dataset.id !== through) return null;
    const wire = element.closest<SVGElement>("[data-wire]");
    if (wire !== null) return wire.dataset.wire ?? null;
  }
  return null;
}

let lit: Element | null = null;

/** Highlights the wire into which the dragged node would be inserted. */
export function lightWire(id: string | null) {
  const next = id === null ? null : document.querySelector(`[data-wire="${CSS.escape(id)}"]`);
  if (next === lit) return;
  lit?.removeAttribute("data-drop");
  next?.setAttribute("data-drop", "");
  lit = next;
}
