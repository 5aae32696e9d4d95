export const zh = {
  "Something went wrong on this page.": "此页面出错了。",
  "app.your_draft_is_saved": "您的草稿已保存到服务器。请重新加载页面以继续。",
  Reload: "重新加载",
  "A new version of the page is available.": "页面有新版本。",
  "app.some_parts_cannot_be_opened":
    "重新加载之前，有些部分无法打开。绘图已保存；请先完成打开的对话框。",
};
