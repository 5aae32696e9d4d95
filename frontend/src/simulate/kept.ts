/** The inputs of a topology's simulation, stored in the browser. */

import type { RawRecord } from "../api/types";

export function keyOf(topology: number): string {
  return `millrace.simulation.${topology}`;
}

/** The cells of an input row for a record: its text, or else its bytes in base64. */
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

/** Makes the *Simulate* panel follow a record as soon as the topology is open. */
export function followLater(record: Pending): void {
  pending = record;
}

/** Returns the record to follow in a topology and forgets it. */
export function takePending(topology: number): Pending | null {
  const found = pending?.topology === topology ? pending : null;
  if (found !== null) pending = null;
  return found;
}

/** Appends a record of a topic to the simulation inputs of a topology that is not open. */
export function addInput(topology: number, topic: string, record: RawRecord): void {
  const kept = JSON.parse(localStorage.getItem(keyOf(topology)) ?? "{}");
  const rows = [...(Array.isArray(kept.rows) ? kept.rows : []), inputOf(topic, record)];
  localStorage.setItem(keyOf(topology), JSON.stringify({ ...kept, rows }));
}

/** The text of a key or value; null if it is not text or was cut off. */
function text(record: RawRecord, part: "key" | "value"): string | null {
  const { cut, format, text: found } = record[part];
  return !cut && (format === "string" || format === "json") ? found : null;
}
