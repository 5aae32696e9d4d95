export const api = {
  "There is nothing here, or it belongs to someone else.": "这里什么都没有，或者它属于别人。",
  "This needs a sign-in, or a role that you do not have.": "需要登录，或需要您没有的角色。",
  "Too many requests: wait a moment.": "请求过多，请稍候。",
  "The database cannot be read or written now. Nothing was saved. Check that it is running and that its disk is not full.":
    "数据库现在无法读写，没有保存任何内容。请检查它是否在运行、磁盘是否已满。",
  "This draft was changed in another window.": "此草稿已在另一个窗口中更改。",
  "The analyzer does not respond, so expressions cannot be checked.":
    "分析器没有响应，因此无法检查表达式。",
  "The simulator does not respond. It is restarted automatically.":
    "模拟器没有响应，正在自动重启。",
  "The simulator is starting. Try again in a few seconds.": "模拟器正在启动，请几秒后重试。",
  "Redis does not respond. Try again when it runs.": "Redis 没有响应，请在其运行后重试。",
  "The Kafka brokers do not respond. Try again when they run.":
    "Kafka broker 没有响应，请在其运行后重试。",
  "The server does not respond.": "服务器没有响应。",
  "The server failed at this request.": "服务器处理此请求时失败。",
  "The server refused this request (status {status}).": "服务器拒绝了此请求（状态 {status}）。",
};
