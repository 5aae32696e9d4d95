import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { patiently } from "./reach";

const PART = new TypeError("Failed to fetch dynamically imported module");

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a part of the page is fetched once the server can be reached again", async () => {
  let away = true;
  vi.stubGlobal("fetch", async () => {
    if (away) throw new TypeError("Failed to fetch");
    return new Response("", { status: 200 });
  });
  const load = vi.fn(async () => {
    if (away) throw PART;
    return "part";
  });
  const found = patiently(load);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(load).toHaveBeenCalledOnce();
  away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await found).toBe("part");
});

test("a part that the server no longer has is an error at once", async () => {
  vi.stubGlobal("fetch", async () => new Response("", { status: 200 }));
  await expect(patiently(() => Promise.reject(PART))).rejects.toBe(PART);
});
