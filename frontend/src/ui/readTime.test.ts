import { expect, test } from "vitest";
import { dateTime, exactTime } from "./format";
import { readTime } from "./readTime";

const NOW = Date.UTC(2026, 0, 31, 14, 30, 5, 250);
const read = (text: string) => {
  const found = readTime(text, NOW);
  return found === null ? null : dateTime(found);
};

test.each([
  ["2026-01-02", "2026-01-02 00:00:00.000"],
  ["2026-1-2 9:05", "2026-01-02 09:05:00.000"],
  ["2026-01-02T09:58:12.407Z", "2026-01-02 09:58:12.407"],
  ["2026-01-02 09:58:12 +02:00", "2026-01-02 07:58:12.000"],
  ["2026-01-02 09:58:12 UTC", "2026-01-02 09:58:12.000"],
  ["14:00", "2026-01-31 14:00:00.000"],
  ["9", "2026-01-31 09:00:00.000"],
  ["yesterday 14:00", "2026-01-30 14:00:00.000"],
  ["today", "2026-01-31 00:00:00.000"],
  ["15 minutes ago", "2026-01-31 14:15:05.250"],
  ["-2h", "2026-01-31 12:30:05.250"],
  ["15 分钟前", "2026-01-31 14:15:05.250"],
  ["now", "2026-01-31 14:30:05.250"],
  ["1767225600", "2026-01-01 00:00:00.000"],
  ["1767225600407", "2026-01-01 00:00:00.407"],
])("the text %s is a time", (text, expected) => {
  expect(read(text)).toBe(expected);
});

test.each(["", "soon", "2026-02-31", "25:00", "2026-01-02 99", "15 parsecs ago"])(
  "the text “%s” is no time",
  (text) => {
    expect(read(text)).toBeNull();
  },
);

test("the exact time has the epoch milliseconds", () => {
  expect(exactTime(1_767_225_600_407)).toMatch(
    /^2026-01-01 00:00:00.407 UTC(.|\n)*\n1767225600407 ms$/,
  );
});
