import { type RefObject, useEffect } from "react";
import { type FocusRequest, NODE_LABEL, useDesigner } from "../designer/store";

/** The last request that was fulfilled. A form that appears because of a request fulfills it as well. */
let fulfilled: FocusRequest | null = null;

/** Looks for a field, 60 ms apart: a slow network needs seconds for an editor. */
const MOST_TRIES = 100;

/** Focuses the field that a diagnostic or a command requests, and scrolls to it. */
export function useFocus(node: string | null, form: RefObject<HTMLDivElement | null>) {
  const request = useDesigner((state) => state.focusRequest);
  useEffect(() => {
    if (request === null || request.node !== node || request.parameter === null) return;
    if (fulfilled === request) return;
    const wanted =
      request.parameter === ""
        ? ".inspector-parameters .field"
        : request.parameter === NODE_LABEL
          ? "[data-node-label]"
          : `[data-parameter="${CSS.escape(request.parameter)}"]`;
    // An editor may still be loading and is focused once it is present.
    let tries = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      const field = form.current?.querySelector<HTMLElement>(wanted);
      const control = field?.querySelector<HTMLElement>(
        "input:not([type=hidden]), textarea, [contenteditable=true]",
      );
      if (control === undefined || control === null) {
        tries += 1;
        if (tries < MOST_TRIES) timer = setTimeout(look, 60);
        else fulfilled = request;
        return;
      }
      fulfilled = request;
      control.focus({ preventScroll: true });
      if (control instanceof HTMLInputElement && request.parameter === NODE_LABEL) control.select();
      field?.scrollIntoView({ block: "center" });
    };
    // Synchronously if possible, so that further key presses do not go to the canvas.
    look();
    return () => clearTimeout(timer);
  }, [request, node, form]);
}
