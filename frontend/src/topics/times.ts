/** Timestamps of records, shown with milliseconds. */

const two = (value: number) => String(value).padStart(2, "0");

/** Local date and time: `2026-01-01 09:58:12.407`. */
export function timeText(at: number): string {
  if (at < 0) return "–";
  const time = new Date(at);
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":");
  return `${date} ${clock}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

/** The value of a `datetime-local` field. */
export const fieldText = (at: number): string => timeText(at).slice(0, 19).replace(" ", "T");
