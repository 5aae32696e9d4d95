export const zh = {
  Operators: "算子",
  "Functions of Spark": "Spark 函数",
  "API of processors": "处理器 API",
  Formats: "格式",
  "Operators, functions, formats": "算子、函数、格式",
  "Search the help": "搜索帮助",
};
