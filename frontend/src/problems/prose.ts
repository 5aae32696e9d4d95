/** The sentences of a diagnostic in the page's language. */

import type { Diagnostic } from "../api/types";
import { diagnosticTexts, fill } from "../ui/i18n";

export interface Told {
  readonly message: string;
  readonly hint: string | null;
}

/** What was found, and what to do; in English for a code that has no translation. */
export function told(diagnostic: Diagnostic): Told {
  const { code, facts = {}, hint, message } = diagnostic;
  const texts = diagnosticTexts(code);
  if (texts === undefined) return { message, hint };
  return { message: fill(texts[0], facts), hint: fill(texts[1], facts) };
}
