/** Where an existing deployment starts: with empty stores, or from other offsets. */

import type { StartPosition, StartRequest } from "../api/types";
import { type Phrase, phrase, t } from "../ui/i18n";
import { readTime } from "../ui/readTime";

export type Position = StartPosition;

export interface Beginning {
  readonly position: Position;
  /** A time as it was typed. */
  readonly time: string;
  /** One line per partition: topic, partition, offset. */
  readonly offsets: string;
  readonly resets: boolean;
}

export const CONTINUES: Beginning = { position: "stopped", time: "", offsets: "", resets: false };

export const POSITIONS: readonly { value: Position; label: Phrase }[] = [
  { value: "stopped", label: phrase("Where it stopped") },
  { value: "earliest", label: phrase("Earliest record") },
  { value: "latest", label: phrase("Latest record") },
  { value: "sources", label: phrase("As configured in each source") },
  { value: "time", label: phrase("A time") },
  { value: "offsets", label: phrase("Given offsets") },
];

/** Whether the deployment continues where it stopped, with its state. */
export function continues(beginning: Beginning): boolean {
  return beginning.position === "stopped" && !beginning.resets;
}

/** Why a position is not valid; null if it is. */
export function problemOf({ position, time, offsets }: Beginning): string | null {
  if (position === "time" && readTime(time) === null) return t("Enter a date and a time.");
  if (position === "offsets" && offsetsOf(offsets) === null) {
    return t("Enter one line for each partition: topic, partition, offset.");
  }
  return null;
}

/** Offsets by topic and partition; null if a line is malformed or there are none. */
export function offsetsOf(text: string): Record<string, Record<string, number>> | null {
  const found: Record<string, Record<string, number>> = {};
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "") continue;
    const parts = /^(\S+)\s+(\d+)\s+(\d+)$/.exec(line);
    if (parts === null) return null;
    const [, topic = "", partition = "", offset = ""] = parts;
    found[topic] = { ...found[topic], [partition]: Number(offset) };
  }
  return Object.keys(found).length === 0 ? null : found;
}

/** The API's start request; null for a start that continues or whose position is not valid. */
export function requestOf(beginning: Beginning): StartRequest | null {
  if (continues(beginning) || problemOf(beginning) !== null) return null;
  const { position, time, offsets, resets } = beginning;
  return {
    start_from: {
      position,
      ...(position === "time" ? { time: new Date(readTime(time) ?? 0).toISOString() } : {}),
      ...(position === "offsets" ? { offsets: offsetsOf(offsets) ?? {} } : {}),
    },
    ...(resets ? { reset: ["stores"] } : {}),
  };
}
