/** The sentences of a diagnostic in the page's language. */

import type { Diagnostic } from "../api/types";
import { diagnosticTexts } from "../ui/i18n";

export interface Told {
  readonly message: string;
  readonly hint: string | null;
}

/** What was found, and what to do; in English for a code that has no translation. */
export function told(diagnostic: Diagnostic): Told {
  const { code, facts = {}, hint, message } = diagnostic;
  return diagnosticTexts(code, facts) ?? { message, hint };
}
