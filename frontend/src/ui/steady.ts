/** Whether a form is in use below one of its places, so that the place may not change its height now. */

/** Marks a form in which nothing moves under the pointer or the caret. */
const STEADY = "[data-steady]";
/** Milliseconds after which a pointer that has moved is at rest, and is not on its way to another field. */
const REST_MS = 300;

/** What a person does in one form. */
export class Steady {
  private readonly places = new Set<() => void>();
  /** The pointer's distance from the upper edge of the window; null while it is not over the form. */
  private pointer: number | null = null;
  private moving: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly form: HTMLElement) {
    form.addEventListener("pointermove", (event) => {
      this.pointer = event.clientY;
      clearTimeout(this.moving);
      this.moving = setTimeout(() => {
        this.moving = undefined;
        this.changed();
      }, REST_MS);
    });
    form.addEventListener("pointerleave", () => {
      this.pointer = null;
      clearTimeout(this.moving);
      this.moving = undefined;
      this.changed();
    });
    // The focus leaves one field before it enters the next.
    form.addEventListener("focusout", () => setTimeout(this.changed));
  }

  private readonly changed = () => {
    for (const look of this.places) look();
  };

  /** Calls `look` whenever a place may have become free; returns a function that ends this. */
  follow(look: () => void): () => void {
    this.places.add(look);
    return () => this.places.delete(look);
  }

  /** Whether the pointer or the caret is in the place or below it. `by`: pixels by which its height would change. */
  isUsed(place: HTMLElement, by: number): boolean {
    const { form, pointer } = this;
    const focused = form.ownerDocument.activeElement;
    const active = focused !== null && focused !== form && form.contains(focused) ? focused : null;
    if (pointer === null && active === null) return false;
    if (pointer !== null) {
      if (this.moving !== undefined || pointer >= place.getBoundingClientRect().top) return true;
    }
    if (active !== null) {
      const order = place.compareDocumentPosition(active);
      if (place.contains(active) || (order & Node.DOCUMENT_POSITION_FOLLOWING) !== 0) return true;
    }
    // At its lower end, a shorter form would move down as a whole.
    return by < 0 && form.scrollTop > Math.max(0, form.scrollHeight + by - form.clientHeight);
  }
}

const known = new WeakMap<HTMLElement, Steady>();

/** The use of the form that an element is in; null if nothing there has to stay. */
export function steadyOf(element: HTMLElement): Steady | null {
  const form = element.closest<HTMLElement>(STEADY);
  if (form === null) return null;
  const found = known.get(form) ?? new Steady(form);
  known.set(form, found);
  return found;
}
