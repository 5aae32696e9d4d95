/** Texts of small components. */

export const zh = {
  Now: "现在",
  "Show all of it": "显示全部",
  "15 minutes ago": "15 分钟前",
  "1 hour ago": "1 小时前",
  "24 hours ago": "24 小时前",
  "Today, 00:00 UTC": "今天 00:00（UTC）",
  "Yesterday, 00:00 UTC": "昨天 00:00（UTC）",
  "Choose a time": "选择时间",
  "A time in UTC, such as 14:00 or 15 minutes ago": "时间为 UTC；也可以写 14:00 或 15 分钟前",
  "A time such as 2026-01-31 14:00, 14:00 or 15 minutes ago":
    "时间，例如 2026-01-31 14:00、14:00 或 15 分钟前",
};
