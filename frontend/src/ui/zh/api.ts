export const api = {
  "There is nothing here, or it belongs to someone else.": "这里什么都没有，或者它属于别人。",
  "This needs a sign-in, or a role that you do not have.": "需要登录，或需要您没有的角色。",
  "Too many requests: wait a moment.": "请求过多，请稍候。",
  "The server does not respond.": "服务器没有响应。",
  "The server failed at this request.": "服务器处理此请求时失败。",
  "The server refused this request (status {status}).": "服务器拒绝了此请求（状态 {status}）。",
};
