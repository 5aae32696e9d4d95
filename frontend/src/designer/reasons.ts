/** Short names of the reasons why records were dropped; an unknown reason is shown by its code. */

import { type Phrase, phrase, t } from "../ui/i18n";

const REASONS: Readonly<Record<string, Phrase>> = {
  late: phrase("late"),
  expired: phrase("expired"),
  null_key: phrase("null key"),
  null_value: phrase("null value"),
  null_foreign_key: phrase("null foreign key"),
  outdated: phrase("outdated"),
  stale: phrase("stale"),
  skipped_timestamp: phrase("skipped timestamp"),
  deserialization: phrase("deserialization"),
  processing: phrase("processing"),
  rejected: phrase("rejected"),
  production: phrase("production"),
};

const MISSES: Readonly<Record<string, Phrase>> = {
  no_match: phrase("Found nothing to join"),
  no_match_yet: phrase("Found no partner on arrival"),
  rejected: phrase("Rejected by the rule and forwarded"),
  warned: phrase("Rejected by the rule with a warning"),
};

/** Whether a rule rejects these records; otherwise a join finds nothing for them. */
export const isRejected = (reason: string): boolean => reason === "rejected" || reason === "warned";

/** Why an inner join sent nothing for a record. */
export function missText(reason: string): string {
  const known = MISSES[reason];
  return known === undefined ? reasonText(reason) : t(known);
}

export function reasonText(reason: string): string {
  const known = REASONS[reason];
  return known === undefined ? reason.replaceAll("_", " ") : t(known);
}
