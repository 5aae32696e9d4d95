export const zh = {
  Exact: "精确",
  "Dialect of the code": "代码方言",
  "Save a version first": "请先保存一个版本",
  "The saved version {n}, without your changes since": "已保存的版本 {n}，不含之后的更改",
  "A program that imports nothing but pyspark": "只导入 pyspark 的程序",
  "Code, runtime and instructions, ready for any Spark": "代码、运行时和说明，可用于任何 Spark",
  "Export zip": "导出 zip",
  "Export v{n} as zip": "将 v{n} 导出为 zip",
  "No code yet": "还没有代码",
  "Add a source to the canvas to see the generated program.":
    "在画布上添加一个数据源，即可看到生成的程序。",
  "No code while there are errors": "有错误时没有代码",
  "Loading the editor…": "正在加载编辑器…",
  "Generated code": "生成的代码",
  "Generated files": "生成的文件",
  "code.problems_must_be_fixed": "需先修正 {n} 个问题，见“问题”面板。",
  "$ unchanged lines": "$ 行未改变",
};
