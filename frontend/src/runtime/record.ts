import type { Failure } from "../api/types";
import { recordAddress } from "../frame/addresses";
import { moment } from "../ui/format";
import { t } from "../ui/i18n";

/** The record that caused a failure, in one line: `orders-2 at offset 1,204, key "a"`. */
export function recordText(record: Failure["record"]): string | null {
  if (record === null || record.topic === null || record.topic === undefined) return null;
  const parts = [`${record.topic}-${record.partition ?? "?"}`];
  if (record.offset !== null && record.offset !== undefined) {
    parts.push(t("offset {n}", { n: record.offset }));
  }
  if (record.key !== null && record.key !== undefined) {
    parts.push(t("key {key}", { key: JSON.stringify(record.key) }));
  }
  if (typeof record.timestamp === "number") parts.push(moment(record.timestamp));
  return parts.join(" · ");
}

/** The address of the complete record, if its topic, partition and offset are known. */
export function recordLink(ws: string, record: Failure["record"]): string | null {
  const { topic, partition, offset } = record ?? {};
  if (typeof topic !== "string" || typeof partition !== "number" || typeof offset !== "number") {
    return null;
  }
  return recordAddress(ws, topic, partition, offset);
}
