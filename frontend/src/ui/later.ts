import { type ComponentType, lazy, useEffect } from "react";
import { patiently } from "./reach";

/** Milliseconds after which a page that was drawn has all it shows, and fetches what it may show next. */
const SETTLED_MS = 4_000;

const rest: (() => Promise<unknown>)[] = [];

/**
 * A view in a chunk of its own, for what the first look at a page does not need. It is fetched when
 * it is first drawn, or before that by `useRest`. Draw it inside a `Suspense`.
 */
export function later<Props>(load: () => Promise<ComponentType<Props>>) {
  rest.push(load);
  return lazy(async () => ({ default: await patiently(load) }));
}

/** Fetches the views for later once the page has settled: they open without a wait, and while the server is away. */
export function useRest(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      // What fails here is fetched again when it is drawn.
      for (const load of rest.splice(0)) load().catch(() => undefined);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, []);
}
