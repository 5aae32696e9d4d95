export const differing = {
  "Different results": "不同的结果",
  "Starting the simulator…": "正在启动模拟器…",
  "{n} {n|input|inputs} tried…": "已尝试 {n} 个输入…",
  "Runs both versions in the simulator, on at most 20,000 inputs in 20 seconds":
    "在模拟器中运行两个版本，最多 20,000 个输入、20 秒",
  "Find an input with different results": "查找结果不同的输入",
  "{version} does not compile: {problem}": "{version}无法编译：{problem}",
  "No difference in {n} {n|input|inputs}; {percent} % of the branches covered.":
    "{n} 个输入中没有差异；覆盖了 {percent} % 的分支。",
  "No record reached {nodes}: add records to Simulate that do.":
    "没有记录到达 {nodes}：请在“模拟”中添加能到达的记录。",
  "Only one version writes {topics}: not compared.": "只有一个版本写入 {topics}：未比较。",
  "Input with different results": "结果不同的输入",
  "The results differ after {n} {n|record|records}.": "{n} 条记录之后结果不同。",
  "Open in Simulate": "在“模拟”中打开",
  "{version} writes to {topic}": "{version} 写入 {topic}",
  Nothing: "无",
  "No.": "序号",
  "After record": "在此记录之后",
  "Record {n} stops {version}.": "第 {n} 条记录使{version}停止。",
  "The wall clock advances by {n} ms": "系统时钟前进 {n} 毫秒",
};
