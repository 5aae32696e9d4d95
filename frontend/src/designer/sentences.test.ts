// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import type { Sentence } from "../api/types";
import { fetchTexts, setLanguage } from "../ui/i18n";
import { keptText, sentenceText } from "./sentences";

afterEach(() => setLanguage("en"));

const hour: Sentence = { form: "per {time}", values: { time: "1 hour" } };
const late: Sentence = {
  form: "{window}, grace {time}",
  values: { window: hour, time: "5 minutes" },
};

test.each([
  ["to {topic} as {formats}", { topic: "a", formats: "json" }, "to a as json", "写入 a，格式 json"],
  ["counts by key", {}, "counts by key", "按键计数"],
  [
    "{window} · counts by {key}",
    { key: "concat(a, ', {key}')", window: late },
    "per hour, grace 5 min · counts by concat(a, ', {key}')",
    "每小时，宽限 5 分钟 · 按 concat(a, ', {key}') 计数",
  ],
  [
    "right {time1} before to {time2} after left",
    { time1: "0 ms", time2: "2 hours" },
    "right 0 ms before to 2 h after left",
    "右侧早 0 毫秒至晚 2 小时",
  ],
  [
    "{window} · {type} join",
    { type: "inner", window: { form: "within {time}", values: { time: "1 day" } } },
    "within 1 day · inner join",
    "1 天以内 · 内连接",
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

test("a store says how long it keeps its rows", () => {
  const values = { name: "counts", time: "90 seconds" };
  expect(keptText({ form: "{name}: kept {time} · history of each key", values })).toBe("kept 90 s");
  expect(keptText({ form: "{name}: one value per key", values: { name: "a" } })).toBeUndefined();
});
