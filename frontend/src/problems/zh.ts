export const zh = {
  "Use the matching format": "使用匹配的格式",
  "Checking…": "检查中…",
  "problems.compiler_is_checking_topology":
    "编译器正在检查此拓扑。如果一段时间无人使用，它会先启动，这需要几秒钟。",
  "Nothing drawn yet": "还没有绘制任何内容",
  "problems.drag_source_from_palette":
    "从组件面板中把一个数据源拖到画布上。缺少或错误的内容会列在这里。",
  "No problems": "没有问题",
  "This topology compiles.": "此拓扑可以编译。",
  "problems.this_topology_compiles_but":
    "此拓扑可以编译，但没有数据汇：不会写出任何结果。请添加一个数据汇。",
  "The topology as a whole": "整个拓扑",
  Difference: "差异",
  Error: "错误",
  Warning: "警告",
  "Write “{text}”": "改为“{text}”",
  "Convert it to {type}": "转换为 {type}",
  "Remove it": "删除",
  "Put “{title}” between": "在中间插入“{title}”",
  "Add “{title}” after {node}": "在 {node} 之后添加“{title}”",
  "Use the topic {topic}": "使用主题 {topic}",
  "Remove the edge": "删除连线",
  "Change the store to “{title}”": "把存储改为“{title}”",
  "Add the store {name}": "添加存储 {name}",
  "Connect the store {name}": "连接存储 {name}",
  "Apply {n} fixes": "应用 {n} 处修复",
};
