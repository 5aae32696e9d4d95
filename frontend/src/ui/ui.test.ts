// @vitest-environment happy-dom
import { afterEach, describe, expect, test } from "vitest";
import { ago, bytes, clock, count, rate, span, streamClock } from "./format";
import { setLanguage } from "./i18n";

afterEach(() => setLanguage("en"));

describe("figures for people", () => {
  test("rates and counts are short", () => {
    expect([0, 0.04, 3.25, 38, 1214, 999_600, 4_500_000].map(rate)).toEqual([
      "0 /s",
      "<0.1 /s",
      "3.3 /s",
      "38 /s",
      "1.2 k/s",
      "1.0 M/s",
      "4.5 M/s",
    ]);
    expect([7, 999, 1204, 1_000_000, 12_345_678].map(count)).toEqual([
      "7",
      "999",
      "1.2 k",
      "1 M",
      "12.3 M",
    ]);
  });

  test("stream time has its date where it is not today", () => {
    const at = Date.UTC(2026, 0, 1, 9, 58, 12, 407);
    expect(streamClock(at, Date.UTC(2026, 0, 1, 23))).toBe("09:58:12.407");
    expect(streamClock(at, Date.UTC(2026, 0, 2))).toBe("2026-01-01 09:58:12.407");
  });

  test("sizes, spans and clocks", () => {
    expect([12, 96_000, 1_500_000].map(bytes)).toEqual(["12 B", "96 kB", "1.5 MB"]);
    expect([34, 1900, 300_000, 7_500_000, 86_400_000 * 3].map(span)).toEqual([
      "34 ms",
      "1.9 s",
      "5 min",
      "2 h 5 min",
      "3 d",
    ]);
    setLanguage("zh");
    expect([34, 7_500_000].map(span)).toEqual(["34 毫秒", "2 小时 5 分钟"]);
    setLanguage("en");
    expect(clock(Date.UTC(2026, 0, 1, 9, 58, 12, 407))).toBe("09:58:12.407");
  });

  test("how long ago, in the reader's language", () => {
    const now = Date.UTC(2026, 0, 1, 12);
    expect(ago(now - 3 * 60_000, now)).toBe("3 min ago");
    setLanguage("zh");
    expect(ago(now - 3 * 60_000, now)).toBe("3 分钟前");
    expect(ago(now - 86_400_000, now)).toBe("昨天");
    expect(ago(now - 2_000, now)).toBe("刚刚");
  });
});
