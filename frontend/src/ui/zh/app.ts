export const app = {
  "Delete “{name}”": "删除 “{name}”",
  "Type its name to confirm": "输入名称以确认",
  Light: "浅色",
  "Something went wrong on this page.": "此页面出错了。",
  "Your draft is saved on the server. Reload the page to continue.":
    "您的草稿已保存到服务器，直到最后一次更改。重新加载页面即可继续。",
  Reload: "重新加载",
  "Something went wrong.": "出了点问题。",
  "Try again": "重试",
  "The server is slow to respond…": "服务器响应较慢…",
  Workspace: "工作区",
  Dark: "深色",
  System: "跟随系统",
  "Account of {name}": "{name} 的账户",
  "Members and tokens": "成员和令牌",
  Theme: "主题外观",
  "Sign out": "退出登录",
};
