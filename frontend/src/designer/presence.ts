/** Other people who have the topology open, and the nodes they edit. The page sets it; the canvas shows it. */

import { create } from "zustand";
import { same } from "./share";

export interface Person {
  readonly id: number;
  readonly name: string;
  /** The node that they edit; null if none. */
  readonly node: string | null;
}

interface Presence {
  readonly people: readonly Person[];
  setPeople(people: readonly Person[]): void;
}

export const usePresence = create<Presence>()((set, get) => ({
  people: [],
  setPeople: (people) => {
    if (!same(get().people, people)) set({ people });
  },
}));

/** A color derived from a person's id, dark enough for white letters and light enough for a dark page. */
export function colorOf(person: number): string {
  return `oklch(0.55 0.15 ${(person * 137) % 360})`;
}

/** One or two letters of a name: `Ada Lovelace` is `AL`, `Ada` is `AD`. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = "?", second] = words;
  const letters = second === undefined ? [...first].slice(0, 2) : [[...first][0], [...second][0]];
  return letters.join("").toUpperCase();
}
