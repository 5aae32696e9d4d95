import { act, Suspense } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { render, until } from "../testing/rendering";
import { part, useOutdated, watchForNewer } from "../ui/reach";
import { NewVersion } from "./NewVersion";

const GONE = new TypeError("Failed to fetch dynamically imported module: /assets/a.js");
const shown = () => document.querySelector('[data-testid="new-version"]')?.textContent ?? null;
let reachable: boolean;
let close: () => Promise<void>;

beforeEach(() => {
  reachable = true;
  vi.stubGlobal("fetch", async () => {
    if (!reachable) throw new TypeError("Failed to fetch");
    return new Response("", { status: 200 });
  });
});

afterEach(async () => {
  await close();
  useOutdated.setState({ outdated: false });
  vi.unstubAllGlobals();
});

test("a view that the server no longer has leaves the page as it is", async () => {
  const Part = part<object>(() => Promise.reject(GONE));
  close = await render(
    <>
      <NewVersion />
      <Suspense fallback="as before">
        <Part />
      </Suspense>
    </>,
  );
  await until(() => expect(shown()).toContain("A new version of the page is available."));
  expect(document.body.textContent).toContain("as before");
  await act(async () => document.querySelector<HTMLElement>('[aria-label="Close"]')?.click());
  expect(shown()).toBeNull();
});

test("a chunk that is missing while the server is unreachable is no new version", async () => {
  watchForNewer();
  close = await render(<NewVersion />);
  const fail = () =>
    act(async () => {
      dispatchEvent(Object.assign(new Event("vite:preloadError"), { payload: GONE }));
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
  reachable = false;
  await fail();
  expect(shown()).toBeNull();
  reachable = true;
  await fail();
  expect(shown()).not.toBeNull();
});
