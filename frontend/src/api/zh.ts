export const zh = {
  "This does not exist, or you do not have access to it.": "内容不存在，或者您无权访问。",
  "You are not signed in, or your role does not allow this.":
    "您尚未登录，或者您的角色不允许此操作。",
  "Too many requests. Wait a moment and try again.": "请求过多，请稍后重试。",
  "The server does not respond.": "服务器没有响应。",
  "The server could not process this request.": "服务器处理此请求时失败。",
  "The server refused this request (status {status}).": "服务器拒绝了此请求（状态 {status}）。",
  "Cause: {message}": "原因：{message}",
};
