import { exactTime, recordTime } from "./format";

/** The timestamp of a record or row; hovering shows the reader's time zone and the epoch milliseconds. */
export function Time({ at }: { at: number }) {
  return (
    <time className="m-figures" title={at < 0 ? undefined : exactTime(at)}>
      {recordTime(at)}
    </time>
  );
}
