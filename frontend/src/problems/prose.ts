/** The sentences of diagnostics and differences in the page's language. */

import type { Diagnostic, Difference } from "../api/types";
import { diagnosticTexts, differenceText } from "../ui/i18n";

export interface Told {
  readonly message: string;
  readonly hint: string | null;
}

/** What was found, and what to do; in English for a code that has no translation. */
export function told(diagnostic: Diagnostic): Told {
  const { code, facts = {}, hint, message } = diagnostic;
  return diagnosticTexts(code, facts) ?? { message, hint };
}

/** What differs from what was expected; in English for a code that has no translation. */
export function toldDifference({ code, facts, message }: Difference): string {
  return differenceText(code, facts) ?? message;
}
