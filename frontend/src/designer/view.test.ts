// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from "vitest";

let width = 1920;
let listeners: (() => void)[] = [];

function resize(now: number) {
  width = now;
  for (const each of listeners) each();
}

async function opened() {
  vi.resetModules();
  listeners = [];
  vi.stubGlobal("matchMedia", (query: string) => ({
    get matches() {
      return width <= Number(/\d+/.exec(query)?.[0]);
    },
    addEventListener: (_type: string, listener: () => void) => listeners.push(listener),
  }));
  const { useView } = await import("./view");
  const { set } = useView.getState();
  const panels = () => {
    const { leftOpen, programOpen, rightOpen } = useView.getState();
    return [leftOpen, programOpen, rightOpen];
  };
  return { panels, set };
}

beforeEach(() => {
  localStorage.clear();
  width = 1920;
});

test("side panels fold while the screen is narrow, open one at a time, and come back as they were", async () => {
  const { panels, set } = await opened();
  expect(panels()).toEqual([true, false, true]);
  resize(1000);
  expect(panels()).toEqual([false, false, false]);
  set({ rightOpen: true });
  set({ leftOpen: true });
  expect(panels()).toEqual([true, false, false]);
  set({ programOpen: true });
  expect(panels()).toEqual([false, true, false]);
  set({ programOpen: false });
  resize(1920);
  expect(panels()).toEqual([true, false, true]);
});

test("one panel makes room for the program on a screen of medium width", async () => {
  const { panels, set } = await opened();
  resize(1280);
  set({ programOpen: true });
  expect(panels()).toEqual([false, true, true]);
  set({ leftOpen: true });
  expect(panels()).toEqual([true, true, false]);
  set({ programOpen: false });
  expect(panels()).toEqual([true, false, true]);
  resize(1920);
  set({ programOpen: true });
  expect(panels()).toEqual([true, true, true]);
  resize(1280);
  expect(panels()).toEqual([false, true, true]);
  resize(1920);
  expect(panels()).toEqual([true, true, true]);
});

test("a page that opens on a smaller screen shows the panels that it has room for", async () => {
  (await opened()).set({ programOpen: true });
  width = 1280;
  expect((await opened()).panels()).toEqual([false, true, true]);
});

test("a bottom panel over the canvas gives the left panel its place back", async () => {
  const { panels, set } = await opened();
  const { useView } = await import("./view");
  set({ bottomOpen: true, bottomFull: true });
  set({ leftOpen: false });
  expect([useView.getState().bottomFull, panels()]).toEqual([false, [true, false, true]]);
  set({ leftOpen: false });
  expect(panels()).toEqual([false, false, true]);
});
