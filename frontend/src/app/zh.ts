export const zh = {
  "Something went wrong on this page.": "此页面出错了。",
  "app.your_draft_is_saved": "您的草稿已保存到服务器。请重新加载页面以继续。",
  Reload: "重新加载",
};
