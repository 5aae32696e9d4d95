/** The limits of the server for the search of a list. */

export const MOST_CHARACTERS = 200;
const MOST_WORDS = 10;

/** The typed text up to the server's limits: more words or characters cannot be typed. */
export function limited(text: string): string {
  const words = [...text.matchAll(/\S+/g)];
  const eleventh = words[MOST_WORDS];
  return text.slice(0, Math.min(eleventh?.index ?? MOST_CHARACTERS, MOST_CHARACTERS));
}
