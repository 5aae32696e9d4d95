/** Changes and failures of the repository in words. */

import { ApiError } from "../api/client";
import type { GitFailure, OutsideChange } from "../api/types";
import { t } from "../ui/i18n";

/** A failure of git as a sentence in the language of the page, with what to do. */
export function failureText(failure: GitFailure): string {
  const { code, message, hint, facts } = failure;
  return new ApiError(409, { error: { code, message, hint, ...facts } }).text;
}

/** What somebody else did with a topology's folder, in a few words. */
export function changeText(change: OutsideChange): string {
  if (change.kind === "new") return t("new topology");
  if (change.kind === "deleted") return t("deleted here");
  if (change.kind === "removed") return t("folder removed");
  if (change.kind === "unreadable") return t("unreadable document");
  const parts = [
    change.document_changed ? t("document") : null,
    change.program_changed ? t("program only") : null,
    change.tests.length > 0
      ? t("{n} {n, plural, one {test} other {tests}}", { n: change.tests.length })
      : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? t("files") : parts.join(t(", "));
}
