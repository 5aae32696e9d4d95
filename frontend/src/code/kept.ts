/** Typed programs, kept in the browser until the server has all of them: in this tab, and for a later one. */

interface Typed {
  /** The program of the canvas, over which it was typed. */
  readonly base: string;
  /** The last text whose document reached the canvas. */
  readonly sound: string;
  readonly text: string;
}

const keyOf = (user: number, topology: number) => `millrace.program.${user}.${topology}`;

/** What this page has stored for later tabs; another tab may have replaced it. */
let written: string | null = null;

function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    // Without storage, the text lasts until the page is closed.
    return undefined;
  }
}

/** Stores a typed program; null removes it. */
export function keepTyped(user: number, topology: number, typed: Typed | null): void {
  const key = keyOf(user, topology);
  const text = typed === null ? null : JSON.stringify(typed);
  if (text === null) {
    quietly(() => sessionStorage.removeItem(key));
    quietly(() => localStorage.getItem(key) === written && localStorage.removeItem(key));
  } else {
    quietly(() => sessionStorage.setItem(key, text));
    quietly(() => localStorage.setItem(key, text));
  }
  written = text;
}

/** The stored program; null if there is none. */
export function readTyped(user: number, topology: number): Typed | null {
  const key = keyOf(user, topology);
  const text = quietly(() => sessionStorage.getItem(key) ?? localStorage.getItem(key)) ?? null;
  const found = quietly(() => JSON.parse(text ?? "null"));
  const whole = [found?.base, found?.sound, found?.text].every((each) => typeof each === "string");
  if (!whole) return null;
  written = text;
  return { base: found.base, sound: found.sound, text: found.text };
}
