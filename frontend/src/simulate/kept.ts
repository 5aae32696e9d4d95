/** The inputs of a topology's simulation, stored in the browser. */

import type { RawRecord, TopicRecord } from "../api/types";
import { notifyError } from "../frame/notify";
import { t } from "../ui/i18n";
import { ORDERS, type Order } from "./ordering";

interface Kept {
  /** Rows of the table of inputs, maybe without some cells. */
  readonly rows: readonly object[];
  readonly auto: boolean;
  readonly order: Order;
}

/** What the browser could not store, by topology. It lasts until the page is closed or reloaded. */
const unstored = new Map<number, Kept>();

export function keyOf(topology: number): string {
  return `millrace.simulation.${topology}`;
}

/** The inputs that were kept for a topology; null if there are none or they cannot be read. */
export function readKept(topology: number): Kept | null {
  const found = unstored.get(topology);
  if (found !== undefined) return found;
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(topology)) ?? "null");
    if (!Array.isArray(kept?.rows)) return null;
    const order = ORDERS.find((each) => each === kept.order) ?? "time";
    return { rows: kept.rows, auto: kept.auto === true, order };
  } catch {
    return null;
  }
}

/** Keeps the inputs of a topology. Tells the person if the browser cannot store them. */
export function keep(topology: number, kept: Kept): void {
  try {
    localStorage.setItem(keyOf(topology), JSON.stringify(kept));
    unstored.delete(topology);
  } catch {
    if (!unstored.has(topology)) {
      notifyError(
        t({
          id: "simulate.browser_could_not_store",
          message:
            "The browser could not store the simulation's inputs. They last until you close or reload this page.",
        }),
      );
    }
    unstored.set(topology, kept);
  }
}

/** Headers by name as in an input line: the last of equal names, bytes as hexadecimal digits. */
export function headerTexts(record: TopicRecord): Readonly<Record<string, string | null>> {
  return Object.fromEntries(record.headers.map(({ key, text }) => [key, text]));
}

/** The text of a cell for headers. */
export function headersCell(headers: unknown): string {
  const text = JSON.stringify(headers ?? {});
  return text === "{}" ? "" : text;
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
    headers: headersCell(headerTexts(record)),
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
  const kept = readKept(topology) ?? { rows: [], auto: false, order: "time" };
  keep(topology, { ...kept, rows: [...kept.rows, inputOf(topic, record)] });
}

/** The text of a key or value; null if it is not text or was cut off. */
function text(record: RawRecord, part: "key" | "value"): string | null {
  const { cut, format, text: found } = record[part];
  return !cut && (format === "string" || format === "json") ? found : null;
}
