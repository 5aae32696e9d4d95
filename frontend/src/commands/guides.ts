import { create } from "zustand";
import { t } from "../ui/i18n";
import type { Command } from "./command";

const KEY = "millrace.tour";

/** The open guides: the step of the tour, and whether the list *Learn* is open. */
export const useGuides = create<{ step: number | null; learning: boolean }>()(() => ({
  step: null,
  learning: false,
}));

export function showStep(step: number): void {
  useGuides.setState({ step });
}

/** Ends the tour. It starts again only on request. */
export function endTour(): void {
  try {
    localStorage.setItem(KEY, "done");
  } catch {
    // Without storage, the tour may start again with the next visit.
  }
  useGuides.setState({ step: null });
}

/** Starts the tour unless it was ended before in this browser. */
export function offerTour(): void {
  try {
    if (localStorage.getItem(KEY) !== null) return;
  } catch {
    return;
  }
  if (useGuides.getState().step === null) showStep(0);
}

export function openLearn(learning: boolean): void {
  useGuides.setState({ learning });
}

export const tour: Command = {
  id: "tour",
  group: "go",
  title: () => t("Take the tour"),
  run: () => showStep(0),
};

export const learn: Command = {
  id: "learn",
  group: "go",
  title: () => t("Learn: ten topologies to try…"),
  run: () => openLearn(true),
};
