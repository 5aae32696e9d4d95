/** What happens to a store, and why, in words. */

import type { StoreChange } from "../api/types";
import { type Phrase, phrase, t } from "../ui/i18n";

export const VERDICTS: Readonly<Record<StoreChange["verdict"], Phrase>> = {
  kept: phrase("Kept"),
  migrated: phrase("Migrated"),
  incompatible: phrase("Incompatible"),
  new: phrase("New"),
  lost: phrase("Lost"),
};

const REASONS: Readonly<Record<string, Phrase>> = {
  value_widened: phrase("A wider type holds all values."),
  fields_added: phrase("Fields are added; they are null in old rows."),
  fields_reordered: phrase("The order of the fields changes."),
  fields_removed: phrase("Fields are removed."),
  tasks_changed: phrase("The number of tasks changes."),
  store_kind_changed: phrase("The kind of store changes."),
  key_type_changed: phrase("The type of the keys changes."),
  value_type_changed: phrase("The type of the values changes."),
  windows_changed: phrase("Its windows change."),
  program_changed: phrase({
    id: "deployments.queries_of_plain_pyspark",
    message:
      "The queries of the plain PySpark program change: Spark continues state only with the same sources and steps with state.",
  }),
  dialect_changed: phrase({
    id: "deployments.code_changes_between_kafka",
    message: "The code changes between Kafka Streams' results and plain PySpark.",
  }),
};

export function reasonText(reason: string): string {
  const known = REASONS[reason];
  return known === undefined ? reason : t(known);
}
