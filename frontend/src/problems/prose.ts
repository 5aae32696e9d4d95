/** The sentences of diagnostics, differences and causes in the page's language. */

import type { Diagnostic, Difference } from "../api/types";
import { causeText, diagnosticTexts, differenceText, language, t } from "../ui/i18n";

export interface Told {
  readonly message: string;
  readonly hint: string | null;
}

/** Why something is not as it should be, as the server tells it: `message` is the sentence in English. */
export interface Cause {
  readonly code: string;
  readonly facts?: Readonly<Record<string, string>>;
  readonly message: string;
  /** The one that `message` quotes. */
  readonly cause?: Cause | null;
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

/** Why it is so. What has no translation, or lacks a fact of it, keeps its English message. */
export function toldCause({ cause, code, facts = {}, message }: Cause): string {
  if (language() === "en") return message;
  const quoted = cause ? { cause: toldCause(cause) } : {};
  return causeText(code, { ...facts, ...quoted, message }) ?? t("Cause: {message}", { message });
}
