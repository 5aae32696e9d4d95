/** Loading chunks of the page from a server that may be temporarily unreachable, or may have a newer page. */

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { create } from "zustand";

const RETRY_MS = 2_000;

/** Whether the server has a newer page, without the chunks that this one names. */
export const useOutdated = create<{ outdated: boolean }>()(() => ({ outdated: false }));

/** Whether the server responds, tested with a file that always exists. */
async function reachable(): Promise<boolean> {
  try {
    return (await fetch("/mark.svg", { method: "HEAD", cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** Resolves once the server responds. */
export async function whenReachable(): Promise<void> {
  while (!(await reachable())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** Whether an error says that a chunk could not be loaded, in the words of the browsers and of Vite. */
export function isMissingPart(error: unknown): boolean {
  return (
    error instanceof Error &&
    /dynamically imported module|Importing a module|preload CSS/.test(error.message)
  );
}

/** Loads a chunk, waiting until the server is reachable. Rejects if the server no longer has the chunk. */
export async function patiently<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    if (await reachable()) throw error;
    await whenReachable();
    return load();
  }
}

/** Offers to load the newer page whenever a chunk is missing, also one that the page needs for a moment only. */
export function watchForNewer(): void {
  addEventListener("vite:preloadError", ({ payload }) => {
    void reachable().then((responds) => {
      if (responds && isMissingPart(payload)) useOutdated.setState({ outdated: true });
    });
  });
  // A command that needs the chunk ends without effect, which the offer explains.
  addEventListener("unhandledrejection", (event) => {
    if (isMissingPart(event.reason)) event.preventDefault();
  });
}

/**
 * A view in a separate chunk. If the server has a newer page without it, the fallback of its `Suspense` stays, as does
 * all that was typed beside it.
 */
export function part<Props>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await patiently(load) };
    } catch (error) {
      if (!isMissingPart(error)) throw error;
      useOutdated.setState({ outdated: true });
      return new Promise(() => {});
    }
  });
}
