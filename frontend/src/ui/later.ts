import { type ComponentType, useEffect } from "react";
import { part } from "./reach";

/** Milliseconds after which a page has loaded what it shows, and lazy views are loaded in advance. */
const SETTLED_MS = 4_000;

const rest: (() => Promise<unknown>)[] = [];

/**
 * A view in a separate chunk, which the page does not need at first. It is loaded when it is first rendered, or earlier
 * by `useRest`. Render it inside a `Suspense`.
 */
export function later<Props>(load: () => Promise<ComponentType<Props>>) {
  rest.push(load);
  return part(load);
}

/** Loads lazy views once the page has settled, so that they open at once, even if the server becomes unreachable. */
export function useRest(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      // A view that fails to load is loaded again when it is rendered.
      for (const load of rest.splice(0)) load().catch(() => undefined);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, []);
}
