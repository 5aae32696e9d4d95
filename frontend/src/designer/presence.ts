/** Other people who have the topology open, with their nodes and pointers. The page sets it; the canvas shows it. */

import { create } from "zustand";
import { same } from "./share";

export interface Person {
  readonly id: number;
  readonly name: string;
  /** The node that they edit; null if none. */
  readonly node: string | null;
}

/** A position in the drawing. */
export type Place = readonly [x: number, y: number];

interface Presence {
  readonly people: readonly Person[];
  /** Where people's pointers are, by the ids of the people. */
  readonly cursors: Readonly<Record<number, Place>>;
  setPeople(people: readonly Person[]): void;
  /** Moves a person's pointer, or removes it. */
  moveCursor(person: number, place: Place | null): void;
}

/** Milliseconds after which a pointer that does not move is not shown any more. */
const RESTING_MS = 8_000;

const timers = new Map<number, ReturnType<typeof setTimeout>>();

export const usePresence = create<Presence>()((set, get) => ({
  people: [],
  cursors: {},
  setPeople: (people) => {
    if (!same(get().people, people)) set({ people });
  },
  moveCursor: (person, place) => {
    clearTimeout(timers.get(person));
    timers.delete(person);
    const { [person]: _before, ...others } = get().cursors;
    set({ cursors: place === null ? others : { ...others, [person]: place } });
    if (place !== null) {
      timers.set(
        person,
        setTimeout(() => get().moveCursor(person, null), RESTING_MS),
      );
    }
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
