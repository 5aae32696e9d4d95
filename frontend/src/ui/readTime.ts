/** Reads a time that a person typed. */

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(s|sec|secs|seconds?|秒)$/, 1_000],
  [/^(m|min|mins|minutes?|分钟?)$/, 60_000],
  [/^(h|hours?|小时)$/, 3_600_000],
  [/^(d|days?|天)$/, 86_400_000],
  [/^(w|weeks?|周)$/, 604_800_000],
];
const DAY = 86_400_000;

const ZONE = "(?:Z|[+-]\\d\\d:?\\d\\d)";
const DATED = new RegExp(
  `^(\\d{4})[-./](\\d{1,2})[-./](\\d{1,2})(?:[T ]+(.+?))?\\s*(UTC|${ZONE})?$`,
  "i",
);
const CLOCK = /^(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2})(?:[.,](\d{1,9}))?)?$/;

/** Milliseconds of a time of day: `14`, `14:05`, `14:05:03.250`; null if it is none. */
function clockOf(text: string): number | null {
  const found = CLOCK.exec(text.trim());
  if (found === null) return null;
  const [, hours, minutes = "0", seconds = "0", fraction = ""] = found;
  const [h, m, s] = [Number(hours), Number(minutes), Number(seconds)];
  if (h > 23 || m > 59 || s > 59) return null;
  return (h * 60 + m) * 60_000 + s * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
}

/** `15 minutes ago`, `15 min`, `-2h`; null if it is none. */
function agoOf(text: string, now: number): number | null {
  const found = /^-?\s*(\d+(?:\.\d+)?)\s*(\p{L}+?)\s*(?:ago|前|之前)?$/u.exec(text);
  if (found === null) return null;
  const unit = UNITS.find(([name]) => name.test(found[2] ?? ""));
  return unit === undefined ? null : Math.round(now - Number(found[1]) * unit[1]);
}

/** The epoch milliseconds of a date with or without a time, in UTC unless an offset is given; null if it is none. */
export function readDate(text: string): number | null {
  const found = DATED.exec(text);
  if (found === null) return null;
  const [, year, month, day, clock, zone = "Z"] = found;
  const time = clock === undefined ? 0 : clockOf(clock);
  if (time === null) return null;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // Otherwise the 31st of February would be in March.
  if (date.getUTCMonth() !== Number(month) - 1) return null;
  const sign = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  const offset =
    sign === null ? 0 : Number(`${sign[1]}1`) * (Number(sign[2]) * 60 + Number(sign[3]));
  return date.getTime() + time - offset * 60_000;
}

/**
 * The time in epoch milliseconds; null if the text is none. Accepts dates and times (in UTC unless an offset is given), a
 * time of today, `yesterday 14:00`, `15 minutes ago`, `now`, and epoch seconds or milliseconds.
 */
export function readTime(typed: string, now: number = Date.now()): number | null {
  const text = typed.trim().toLowerCase();
  if (/^(now|现在)$/.test(text)) return now;
  // Ten digits are seconds until the year 2286; fewer digits are small times of simulations.
  if (/^\d{5,16}$/.test(text)) return text.length === 10 ? Number(text) * 1_000 : Number(text);
  const named = /^(today|yesterday|今天|昨天)\s*(.*)$/.exec(text);
  const midnight = Math.floor(now / DAY) * DAY - (/^(yesterday|昨天)/.test(text) ? DAY : 0);
  const time = clockOf((named === null ? text : (named[2] ?? "")) || "0");
  if ((named !== null || text !== "") && time !== null) return midnight + time;
  const found = agoOf(text, now) ?? readDate(typed.trim());
  return found === null || found < 0 ? null : found;
}
