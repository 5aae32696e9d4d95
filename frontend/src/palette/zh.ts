export const zh = {
  Takes: "接受",
  Gives: "产生",
  "the same": "相同",
  "keeps state": "有状态",
  "changes the key": "改变键",
  "Best matches": "最佳匹配",
  "palette.describe_what_it_should": "说明要对记录做什么：“过滤”“关联”“每小时计数”。",
  "You can view this topology, but not change it.": "您可以查看此拓扑，但不能修改。",
  "Drag, or press Enter": "拖动，或按 Enter",
};
