import { type ReactNode, useLayoutEffect, useRef } from "react";

/** Marks the form in which nothing moves up while the pointer is over it. */
const STEADY = "[data-steady]";

/**
 * A place for messages between the fields of a form. When a message disappears while the pointer is over the form (the
 * next ancestor with `data-steady`), its space stays until the pointer leaves, so that the fields below do not move away
 * from under it.
 */
export function Held({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const outer = place.current;
    const inner = content.current;
    const form = outer?.closest(STEADY);
    if (outer === null || inner === null || form === null || form === undefined) return;
    let held = 0;
    const height = () => inner.getBoundingClientRect().height;
    const release = () => {
      held = height();
      outer.style.minHeight = "";
      outer.toggleAttribute("data-held", false);
    };
    const fit = () => {
      if (height() >= held || !form.matches(":hover")) release();
      else {
        outer.style.minHeight = `${held}px`;
        outer.toggleAttribute("data-held", true);
      }
    };
    // Observed sizes are reported before they are painted.
    const observer = new ResizeObserver(fit);
    observer.observe(inner);
    form.addEventListener("pointerleave", release);
    return () => {
      observer.disconnect();
      form.removeEventListener("pointerleave", release);
    };
  }, []);
  return (
    <div className="ui-held" ref={place}>
      <div ref={content}>{children}</div>
    </div>
  );
}
