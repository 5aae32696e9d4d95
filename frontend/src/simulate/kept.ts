/** The inputs of a topology's simulation, kept in this browser. */

import type { RawRecord } from "../api/types";

export function keyOf(topology: number): string {
  return `millrace.simulation.${topology}`;
}

/** The cells of a record of a topic: its texts, or its bytes as they are. */
export function inputOf(topic: string, record: RawRecord) {
  const bytes = (raw: string | null) => (raw === null ? "" : `base64:${raw}`);
  return {
    topic,
    key: text(record, "key") ?? bytes(record.raw_key),
    value: text(record, "value") ?? bytes(record.raw_value),
    timestamp: String(record.timestamp),
    partition: String(record.partition),
    headers: "",
  };
}

/** A record that is to be followed once its topology is open. */
interface Pending {
  readonly topology: number;
  readonly deployment: number;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

let pending: Pending | null = null;

/** Has the panel *Simulate* of a topology follow a record as soon as it is open. */
export function followLater(record: Pending): void {
  pending = record;
}

/** What is to be followed in a topology, once. */
export function takePending(topology: number): Pending | null {
  const found = pending?.topology === topology ? pending : null;
  if (found !== null) pending = null;
  return found;
}

/** Adds a record of a topic behind the inputs of a topology that is not open. */
export function addInput(topology: number, topic: string, record: RawRecord): void {
  const kept = JSON.parse(localStorage.getItem(keyOf(topology)) ?? "{}");
  const rows = [...(Array.isArray(kept.rows) ? kept.rows : []), inputOf(topic, record)];
  localStorage.setItem(keyOf(topology), JSON.stringify({ ...kept, rows }));
}

/** The text of a part that is whole and text; null for others. */
function text(record: RawRecord, part: "key" | "value"): string | null {
  const { cut, format, text: found } = record[part];
  return !cut && (format === "string" || format === "json") ? found : null;
}
