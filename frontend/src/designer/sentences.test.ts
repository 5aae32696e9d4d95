import { afterEach, expect, test } from "vitest";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { sentenceText } from "./sentences";

afterEach(() => setLanguage("en"));

test.each([
  ["reads orders, users", "读取 orders, users"],
  ["latest value of each key of users", "users 中每个键的最新值"],
  ["counts by key", "按键计数"],
  [
    "counts by concat(a, b), per 1 hour, grace 5 minutes",
    "按 concat(a, b) 计数，每 1 小时，宽限 5 分钟",
  ],
  ["counts by item, per 10 minutes every 1 minute", "按 item 计数，10 分钟的窗口，每 1 分钟一个"],
  [
    "agg + value by key, in sessions with gaps up to 30 seconds",
    "agg + value，按键，间隔不超过 30 秒的会话",
  ],
  ["left join by key, waits 5 seconds", "按键左连接，等待 5 秒"],
  ["inner join, right 0 ms before to 1 hour after left", "内连接，右侧早 0 毫秒至晚 1 小时"],
  ["key value.item, value value.price", "键 value.item，值 value.price"],
  ["writes counts as string, json", "写入 counts，格式 string, json"],
  ["counts: values per key and window", "counts：按键和窗口保存值"],
  ["Deduplicate with seen", "Deduplicate，使用 seen"],
  ["at most one update per key in 10 seconds", "每个键在 10 秒内最多一次更新"],
  ["keeps value.amount > 10", "保留 value.amount > 10"],
  ["a sentence of a form that is not known", "a sentence of a form that is not known"],
])("%s", async (english, chinese) => {
  expect(sentenceText(english)).toBe(english);
  setLanguage("zh");
  await fetchTexts("zh");
  expect(sentenceText(english)).toBe(chinese);
});
