/**
 * The compiler's sentences about nodes in Chinese, by their English form; the first form that matches is used. A name
 * in braces stands for any text, `time` for a duration, `window` for a sentence about one, `type` for a kind of join.
 */

export const sentences: readonly (readonly [english: string, chinese: string])[] = [
  ["reads topics like {pattern}", "读取匹配 {pattern} 的主题"],
  ["reads {topics} from {reader}", "用 {reader} 读取 {topics}"],
  ["reads {topics}", "读取 {topics}"],
  ["latest value of each key of {topic}", "{topic} 中每个键的最新值"],
  ["latest value of each key", "每个键的最新值"],
  ["all rows of {topic} on every task", "每个任务都有 {topic} 的全部行"],
  ["keeps {predicate}", "保留 {predicate}"],
  ["drops {predicate}", "丢弃 {predicate}"],
  ["key {key}, value {value}", "键 {key}，值 {value}"],
  ["key {key}", "键 {key}"],
  ["value {value}", "值 {value}"],
  ["each of {values}", "{values} 的每个元素"],
  ["logs {message}", "记录日志 {message}"],
  ["all records of its inputs", "所有输入的全部记录"],
  ["first match of {ports}", "{ports} 中首个匹配"],
  ["{n} partitions by key", "按键分为 {n} 个分区"],
  ["by key", "按键"],
  ["counts by key, {window}", "按键计数，{window}"],
  ["counts by key", "按键计数"],
  ["counts by {key}, {window}", "按 {key} 计数，{window}"],
  ["counts by {key}", "按 {key} 计数"],
  ["{type} join, right {time1} before to {time2} after left", "{type}，右侧早 {time1}至晚 {time2}"],
  ["{type} join by key, waits {time}", "按键{type}，等待 {time}"],
  ["{type} join by key", "按键{type}"],
  ["{type} join by {key}", "按 {key} {type}"],
  ["one final result per window", "每个窗口一个最终结果"],
  ["at most one update per key in {time}", "每个键在 {time}内最多一次更新"],
  ["updates of the table", "表的更新"],
  ["{name}: history of each key", "{name}：每个键的历史"],
  ["{name}: values per key and window", "{name}：按键和窗口保存值"],
  ["{name}: values per key and session", "{name}：按键和会话保存值"],
  ["{name}: one value per key", "{name}：每个键一个值"],
  ["writes to a topic", "写入主题"],
  ["writes the topic {topic} as {formats}", "按 {topic} 写入主题，格式 {formats}"],
  ["writes the topic {topic}", "按 {topic} 写入主题"],
  ["writes {topic} as {formats}", "写入 {topic}，格式 {formats}"],
  ["writes {topic}", "写入 {topic}"],
  ["prints each record", "打印每条记录"],
  ["prints {label}", "打印 {label}"],
  ["{what} by key, {window}", "{what}，按键，{window}"],
  ["{what} by key", "{what}，按键"],
  ["{what} by {key}, {window}", "{what}，按 {key}，{window}"],
  ["{what} by {key}", "{what}，按 {key}"],
  ["{class} with {stores}", "{class}，使用 {stores}"],
];

export const windows: readonly (readonly [english: string, chinese: string])[] = [
  ["{window}, grace {time}", "{window}，宽限 {time}"],
  ["per {time1} every {time2}", "{time1}的窗口，每 {time2}一个"],
  ["per {time}", "每 {time}"],
  ["within {time}", "{time}以内"],
  ["in sessions with gaps up to {time}", "间隔不超过 {time}的会话"],
  ["in one unlimited window", "一个无限窗口"],
];

export const units: Readonly<Record<string, string>> = {
  ms: "毫秒",
  second: "秒",
  minute: "分钟",
  hour: "小时",
  day: "天",
};
