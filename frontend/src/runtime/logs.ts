/** Log lines: fetched and live lines combined, and filtered by level, node and text. */

import type { LogLine } from "../api/types";
import { millis } from "../live/figures";
import { clock } from "../ui/format";
import { recordText } from "./record";

export const LEVELS = ["debug", "info", "warning", "error"] as const;
export type Level = (typeof LEVELS)[number];

export function levelOf(line: LogLine): Level {
  const level = line.level.toLowerCase();
  if (level.startsWith("err") || level === "fatal" || level === "critical") return "error";
  if (level.startsWith("warn")) return "warning";
  return level === "debug" || level === "trace" ? "debug" : "info";
}

interface LogFilter {
  readonly node: string | null;
  readonly level: Level;
  readonly search: string;
}

export function shown(lines: readonly LogLine[], filter: LogFilter): LogLine[] {
  const least = LEVELS.indexOf(filter.level);
  const search = filter.search.trim().toLowerCase();
  return lines.filter(
    (line) =>
      line.message !== "" &&
      LEVELS.indexOf(levelOf(line)) >= least &&
      (filter.node === null || line.node === filter.node) &&
      (search === "" || line.message.toLowerCase().includes(search)),
  );
}

function identity(line: LogLine): string {
  return `${millis(line.at)} ${line.level} ${line.node} ${line.message}`;
}

/**
 * The fetched lines, followed by the live ones that are newer or not among them. A line that arrives live while the log
 * is being fetched is in both.
 */
export function joined(fetched: readonly LogLine[], live: readonly LogLine[]): LogLine[] {
  if (fetched.length === 0) return [...live];
  const last = millis(fetched.at(-1)?.at) ?? 0;
  const near = new Set(fetched.slice(-500).map(identity));
  const fresh = live.filter((line) => (millis(line.at) ?? 0) >= last && !near.has(identity(line)));
  return [...fetched, ...fresh];
}

export function asText(lines: readonly LogLine[]): string {
  return lines
    .map((line) => {
      const at = millis(line.at);
      const time = at === null ? "" : new Date(at).toISOString();
      const record = recordText(line.record);
      const text = record === null ? line.message : `${line.message} (${record})`;
      return `${time} ${line.level.toUpperCase()} ${line.node ?? "-"} ${text}`;
    })
    .join("\n");
}

export function timeOf(line: LogLine): string {
  const at = millis(line.at);
  return at === null ? "" : clock(at);
}
