/** When a deployment runs: in words, and the dialog in which a person sets it. */

import { create } from "zustand";
import type { Deployment, ScheduleTimes } from "../api/types";
import { moment } from "../ui/format";
import { type Phrase, phrase, t } from "../ui/i18n";

type Schedule = NonNullable<Deployment["schedule"]>;

export const useScheduling = create<{ open: boolean }>()(() => ({ open: false }));

export function openSchedule(open: boolean): void {
  useScheduling.setState({ open });
}

/** The days of a week by their number, in short. */
export const DAYS: ReadonlyMap<number, Phrase> = new Map([
  [1, phrase("Mon")],
  [2, phrase("Tue")],
  [3, phrase("Wed")],
  [4, phrase("Thu")],
  [5, phrase("Fri")],
  [6, phrase("Sat")],
  [7, phrase("Sun")],
]);

const nameOf = (day: number) => t(DAYS.get(day) ?? phrase("Mon"));

/** Days in words: three and more in a row as the first and the last one. */
export function daysText(days: readonly number[]): string {
  if (days.length === 7) return t("daily");
  const runs: number[][] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1) === day - 1) last.push(day);
    else runs.push([day]);
  }
  const names = runs.flatMap((run) => {
    const [first, last] = [run[0] ?? 1, run.at(-1) ?? 1];
    return run.length > 2 ? [`${nameOf(first)}–${nameOf(last)}`] : run.map(nameOf);
  });
  return names.join(t(", "));
}

/** `Mon–Fri 08:00–18:00, Sat 09:00–12:00`. */
export function timesText(times: readonly ScheduleTimes[]): string {
  return times.map(({ days, start, stop }) => `${daysText(days)} ${start}–${stop}`).join(t("; "));
}

/** Why times cannot be saved; null if they can. */
export function problemOfTimes({ days, start, stop }: ScheduleTimes): string | null {
  if (days.length === 0) return t("Choose a day.");
  return [start, stop].every((each) => /^([01]\d|2[0-3]):[0-5]\d$/.test(each))
    ? null
    : t("Enter times such as 08:00.");
}

/** What the schedule should have done last and could not; its reason follows. */
export function missedText({ last_action, last_at }: Schedule): string {
  const time = last_at === null ? "" : moment(last_at);
  return last_action === "stop"
    ? t("It was not stopped at {time}.", { time })
    : t("It was not started at {time}.", { time });
}

/** What comes next, without the time, and what a person did before, if it runs to no schedule. */
export function nextText({ deviates, failure, next_action }: Schedule): string {
  // It runs to no schedule because that could not be applied.
  if (!deviates || failure !== null)
    return next_action === "start" ? t("Next start") : t("Next stop");
  return next_action === "start"
    ? t("Stopped within its times. Next start")
    : t("Started outside its times. Next stop");
}
