import { afterEach, expect, test } from "vitest";
import type { Sentence } from "../api/types";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { sentenceText } from "./sentences";

afterEach(() => setLanguage("en"));

const hour: Sentence = { form: "per {time}", values: { time: "1 hour" } };
const late: Sentence = {
  form: "{window}, grace {time}",
  values: { window: hour, time: "5 minutes" },
};

test.each([
  ["reads {topics}", { topics: "orders, users" }, "reads orders, users", "读取 orders, users"],
  ["counts by key", {}, "counts by key", "按键计数"],
  [
    "counts by {key}, {window}",
    { key: "concat(a, ', {key}')", window: late },
    "counts by concat(a, ', {key}'), per 1 hour, grace 5 minutes",
    "按 concat(a, ', {key}') 计数，每 1 小时，宽限 5 分钟",
  ],
  [
    "{type} join, right {time1} before to {time2} after left",
    { type: "inner", time1: "0 ms", time2: "1 hour" },
    "inner join, right 0 ms before to 1 hour after left",
    "内连接，右侧早 0 毫秒至晚 1 小时",
  ],
  ["{class_name}", { class_name: "Deduplicate" }, "Deduplicate", "Deduplicate"],
  [
    "a form {n} that is not known",
    { n: "1" },
    "a form 1 that is not known",
    "a form 1 that is not known",
  ],
])("%s", async (form, values, english, chinese) => {
  expect(sentenceText({ form, values })).toBe(english);
  setLanguage("zh");
  await fetchTexts("zh");
  expect(sentenceText({ form, values })).toBe(chinese);
});
