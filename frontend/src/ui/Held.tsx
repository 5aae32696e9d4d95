import IconChevronDown from "@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { t } from "./i18n";
import { steadyOf } from "./steady";

/**
 * A place for messages between the fields of a form. It keeps its height while the pointer or the caret is below it (in the
 * next ancestor with `data-steady`): a message that goes leaves its space, and one that comes shows as much as fits, which
 * is one line where the form reserves one (`min-height`). All of it is shown once the fields below are not in use, or
 * when a person asks for it.
 */
export function Held({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const release = useRef(() => {});
  useLayoutEffect(() => {
    const outer = place.current;
    const inner = content.current;
    const use = outer === null ? null : steadyOf(outer);
    if (outer === null || inner === null || use === null) return;
    // Known once it is laid out: a question before that would lay out the whole page while it is being made.
    let least = 0;
    let kept: number | null = null;
    const first = requestAnimationFrame(() => {
      least = Number.parseFloat(getComputedStyle(outer).minHeight) || 0;
      kept ??= outer.getBoundingClientRect().height;
    });
    const mark = (how: "held" | "cut" | null) => {
      outer.style.height = how === null ? "" : `${kept}px`;
      outer.toggleAttribute("data-held", how === "held");
      outer.toggleAttribute("data-cut", how === "cut");
    };
    const wanted = () => {
      // A cut message has another layout.
      outer.toggleAttribute("data-cut", false);
      return Math.max(least, inner.getBoundingClientRect().height);
    };
    const give = () => {
      kept = wanted();
      mark(null);
    };
    const settle = () => {
      if (kept === null) return;
      const height = wanted();
      if (Math.abs(height - kept) < 1 || !use.isUsed(outer, height - kept)) give();
      else mark(height < kept ? "held" : "cut");
    };
    release.current = give;
    // It reports changes before they are painted.
    const observer = new MutationObserver(settle);
    observer.observe(inner, { childList: true, characterData: true, subtree: true });
    const stop = use.follow(settle);
    return () => {
      cancelAnimationFrame(first);
      observer.disconnect();
      stop();
    };
  }, []);
  return (
    <div className="ui-held" ref={place}>
      <div ref={content}>{children}</div>
      {/* Screen readers and the fields above have all of the message. */}
      <button
        type="button"
        className="ui-held-more"
        tabIndex={-1}
        aria-hidden="true"
        title={t("Show all of it")}
        onClick={() => release.current()}
      >
        <IconChevronDown size={13} stroke={1.5} />
      </button>
    </div>
  );
}
