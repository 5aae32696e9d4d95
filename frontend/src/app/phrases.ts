/**
 * Texts of the shell, the pages and the running views. The English sentence is the key: it reads well in the code,
 * and `zh.ts` gives the Chinese one; a test checks that none is missing.
 */

import { fill, type Language, language } from "../ui/i18n";

let zh: Readonly<Record<string, string>> = {};

/** Fetches what a language needs before the page is drawn in it; English comes with the page. */
export async function fetchTexts(next: Language): Promise<void> {
  if (next === "zh") ({ zh } = await import("./zh"));
}

/** The sentence in the page's language, `{name}` replaced by the value of that name. */
export function t(text: string, values: Readonly<Record<string, string | number>> = {}): string {
  return fill(language() === "zh" ? (zh[text] ?? text) : text, values);
}
