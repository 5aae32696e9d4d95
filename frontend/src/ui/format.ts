/** Formats numbers and times. Functions return a short form; show the exact value on hover. */

import { language } from "./i18n";

function trim(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, "");
}

/** 1214 -> `1.2 k`, 4_500_000 -> `4.5 M`; whole numbers up to 999 as they are. */
export function count(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return Number.isInteger(value) ? String(value) : trim(value, size < 10 ? 1 : 0);
  if (size < 999_500) return `${trim(value / 1e3, size < 99_950 ? 1 : 0)} k`;
  if (size < 999_500_000) return `${trim(value / 1e6, size < 99_950_000 ? 1 : 0)} M`;
  return `${trim(value / 1e9, 1)} G`;
}

/** Records per second: `5.0 k/s`, `38 /s`, `0.4 /s`. */
export function rate(value: number): string {
  if (value > 0 && value < 0.05) return "<0.1 /s";
  const size = Math.abs(value);
  if (size < 10) return `${trim(value, 1)} /s`;
  if (size < 999.5) return `${Math.round(value)} /s`;
  if (size < 999_500) return `${(value / 1e3).toFixed(size < 99_950 ? 1 : 0)} k/s`;
  return `${(value / 1e6).toFixed(1)} M/s`;
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${trim(size, size < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}

/** Created once, because the figures of hundreds of nodes are formatted every second. */
const WHOLE = { en: new Intl.NumberFormat("en-GB"), zh: new Intl.NumberFormat("zh-CN") };

/** The whole number with separators: `1,214,003`. */
export function exact(value: number): string {
  return WHOLE[language()].format(value);
}

const TIME = {
  en: { ms: "ms", s: "s", min: "min", h: "h", d: "d" },
  zh: { ms: "毫秒", s: "秒", min: "分钟", h: "小时", d: "天" },
};

/** A duration: `34 ms`, `1.9 s`, `5 min`, `2 h 5 min`. */
export function span(milliseconds: number): string {
  const { d, h, min, ms, s } = TIME[language()];
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ${ms}`;
  if (milliseconds < 59_950) return `${trim(milliseconds / 1000, 1)} ${s}`;
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 60) return `${minutes} ${min}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) {
    return minutes % 60 === 0 ? `${hours} ${h}` : `${hours} ${h} ${minutes % 60} ${min}`;
  }
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} ${d}` : `${days} ${d} ${hours % 24} ${h}`;
}

const JUST_NOW = { en: "just now", zh: "刚刚" };

/** A relative time: `just now`, `3 min ago`, `yesterday`. */
export function ago(at: number | string, now: number = Date.now()): string {
  const then = typeof at === "string" ? Date.parse(at) : at;
  const seconds = Math.round((then - now) / 1000);
  const relative = new Intl.RelativeTimeFormat(language() === "zh" ? "zh-CN" : "en-GB", {
    numeric: "auto",
    style: "short",
  });
  // Numbers have a space before a Chinese unit everywhere.
  const text = (value: number, unit: Intl.RelativeTimeFormatUnit) =>
    relative.format(Math.round(value), unit).replace(/(\d)(?=\p{Script=Han})/u, "$1 ");
  const size = Math.abs(seconds);
  if (size < 45) return JUST_NOW[language()];
  if (size < 3570) return text(seconds / 60, "minute");
  if (size < 85_000) return text(seconds / 3600, "hour");
  if (size < 86_400 * 27) return text(seconds / 86_400, "day");
  if (size < 86_400 * 330) return text(seconds / (86_400 * 30), "month");
  return text(seconds / (86_400 * 365), "year");
}

/**
 * A time in UTC, in which stream time, windows and logs are given as well: `2026-01-01 09:58:12.407`. The original text
 * for a time outside of the calendar.
 */
export function dateTime(at: number | string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  return date.toISOString().replace("T", " ").replace("Z", "");
}

/** The same without milliseconds that are 0, for sentences and fields. */
export const briefTime = (at: number | string): string => dateTime(at).replace(/\.000$/, "");

/** The timestamp of a record; Kafka has none below 0. */
export const recordTime = (at: number): string => (at < 0 ? "–" : dateTime(at));

/** The same with everything there is to know, for a tooltip: also in the reader's zone, and in epoch milliseconds. */
export function exactTime(at: number | string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const local = date.getTime() - date.getTimezoneOffset() * 60_000;
  const zone = localZone();
  const here = zone === "UTC" ? "" : `\n${dateTime(local)} ${zone}`;
  return `${dateTime(at)} UTC${here}\n${date.getTime()} ms`;
}

/** The name of the reader's time zone. */
export function localZone(): string {
  return new Intl.DateTimeFormat("en-GB").resolvedOptions().timeZone;
}

/** Time of day with milliseconds, the form of stream time: `09:58:12.407`. */
export function clock(at: number): string {
  return dateTime(at).slice(-12);
}

/** Stream time: the time of day, with the date unless it is today. */
export function streamClock(at: number, now: number = Date.now()): string {
  const [date, today] = [at, now].map((each) => dateTime(each).split(" ")[0]);
  return date === today ? clock(at) : dateTime(at);
}

/** Time of day: `14:03:27`. */
export function hour(at: number | string): string {
  return dateTime(at).slice(-12, -4);
}

/** Date and time of something that happened: `2026-01-01 09:58:12`. */
export function moment(at: number | string): string {
  return dateTime(at).slice(0, -4);
}
