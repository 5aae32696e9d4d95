/** Diagnostics, differences and causes as text in the language of the page. */

import { causeText, diagnosticTexts, differenceText, language, t } from "../ui/i18n";
import type { Diagnostic, Difference } from "./types";

export interface Description {
  readonly message: string;
  readonly hint: string | null;
}

/** A reason from the server. `message` is its text in English. */
export interface Cause {
  readonly code: string;
  readonly facts?: Readonly<Record<string, string>>;
  readonly message: string;
  /** The reason that `message` quotes. */
  readonly cause?: Cause | null;
}

/** The message and hint of a diagnostic; in English if its code has no translation. */
export function describeDiagnostic(diagnostic: Diagnostic): Description {
  const { code, facts = {}, hint, message } = diagnostic;
  return diagnosticTexts(code, facts) ?? { message, hint };
}

/** The text of a difference from the expected result; in English if its code has no translation. */
export function describeDifference({ code, facts, message }: Difference): string {
  return differenceText(code, facts) ?? message;
}

/** The text of a reason. Without a translation, or if a fact of it is missing, the English message is kept. */
export function describeCause({ cause, code, facts = {}, message }: Cause): string {
  if (language() === "en") return message;
  const quoted = cause ? { cause: describeCause(cause) } : {};
  return causeText(code, { ...facts, ...quoted, message }) ?? t("Cause: {message}", { message });
}
