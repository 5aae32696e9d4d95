/** Units of durations in the compiler's sentences about nodes. */

export const units: Readonly<Record<string, string>> = {
  ms: "毫秒",
  second: "秒",
  minute: "分钟",
  hour: "小时",
  day: "天",
};
