import { expect, test, vi } from "vitest";

test("side panels fold while the screen is narrow, open one at a time, and come back as they were", async () => {
  let turned: () => void = () => undefined;
  const screen = {
    matches: false,
    addEventListener: (_type: string, listener: () => void) => {
      turned = listener;
    },
  };
  vi.stubGlobal("matchMedia", () => screen);
  localStorage.clear();
  const { useView } = await import("./view");
  const open = () => [useView.getState().leftOpen, useView.getState().rightOpen];
  expect(open()).toEqual([true, true]);

  screen.matches = true;
  turned();
  expect(open()).toEqual([false, false]);
  useView.getState().set({ rightOpen: true });
  useView.getState().set({ leftOpen: true });
  expect(open()).toEqual([true, false]);
  useView.getState().set({ leftOpen: false });

  screen.matches = false;
  turned();
  expect(open()).toEqual([true, true]);
});
