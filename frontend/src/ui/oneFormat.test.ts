import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, dateTime, hour, moment, streamClock } from "./format";

const SOURCE = join(import.meta.dirname, "..");

/** Where times are formatted and read, and the times of a request and of a file are made. */
const ALLOWED = new Set([
  "ui/format.ts",
  "ui/readTime.ts",
  "deployments/beginning.ts",
  "runtime/logs.ts",
]);

const text = (path: string) => readFileSync(join(SOURCE, path), "utf8");

/** Where numbers are rounded that nobody reads as a figure, and a ratio. */
const ROUNDING = new Set(["runtime/EdgeKeys.tsx", "runtime/NodeRuntime.tsx", "canvas/Heat.tsx"]);

const FILES = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\./.test(path));

test("figures and durations are rounded in one place", () => {
  const others = FILES.filter((path) => path !== "ui/format.ts" && !ROUNDING.has(path));
  expect(others.filter((path) => /\.toFixed\(/.test(text(path)))).toEqual([]);
});

test("all times of the page are formatted in one place", () => {
  const others = FILES.filter((path) => !ALLOWED.has(path));
  const own = /toLocale\w*String|DateTimeFormat|toISOString|new Date\(|datetime-local/;
  expect(others.length).toBeGreaterThan(300);
  expect(others.filter((path) => own.test(text(path)))).toEqual([]);
});

test("a time has one form, of which the others are parts", () => {
  const at = Date.UTC(2026, 0, 1, 9, 58, 12, 407);
  expect(dateTime(at)).toBe("2026-01-01 09:58:12.407");
  expect(dateTime("2026-01-01T09:58:12Z")).toBe("2026-01-01 09:58:12.000");
  expect(moment(at)).toBe("2026-01-01 09:58:12");
  expect(clock(at)).toBe("09:58:12.407");
  expect(hour(at)).toBe("09:58:12");
  expect(streamClock(at, at)).toBe("09:58:12.407");
  expect(streamClock(at, at + 86_400_000)).toBe(dateTime(at));
  expect(dateTime(9e15)).toBe("9000000000000000");
});
