export const stores = {
  "Find rows by": "查找方式",
  "Key is": "键等于",
  "Key begins with": "键开头为",
  "Keys from": "键起始于",
  "A key": "键",
  "A key as JSON: {type}": "JSON 形式的键：{type}",
  "Windows that start at this time or later": "从此时间起开始的窗口",
  "Windows that start at this time or earlier": "至此时间为止开始的窗口",
  "Values as of this time": "此时间的值",
  Find: "查找",
  "All rows": "所有行",
  "The rows of all stores can be read here, while the topology runs and afterwards.":
    "拓扑运行期间及停止之后，都可在此读取所有存储的行。",
  "No stores": "没有存储",
  "Aggregations, tables and processors with stores keep state. It can be read after the first batch.":
    "聚合、表以及带存储的处理器会保存状态。第一个批次完成后即可读取。",
  "No state yet": "尚无状态",
  "The stores can be read when the deployment has committed its first batch.":
    "部署提交第一个批次后即可读取存储。",
  "The process that reads stores is starting. After a pause this takes a few seconds.":
    "读取存储的进程正在启动：闲置之后需要几秒钟。",
  "The store is empty": "存储为空",
  "No rows": "没有行",
  "No batch has written a row, or all have been deleted or have expired.":
    "还没有批次写入行，或者所有行都已删除或过期。",
  "No row matches. The key must be exactly the one in the store.":
    "没有匹配的行。键必须与存储中的完全一致。",
  "Next rows": "后面的行",
  "as of batch {n}, {time}": "截至批次 {n}，{time}",
  Window: "窗口",
  "Valid from": "生效时间",
  "empty text": "空文本",
  "Show the rows of {store}": "查看 {store}",
  "The state of its queries can only be read by Spark.": "其查询的状态只能由 Spark 读取。",
  "{n} {n|row|rows}. There are no more.": "{n} 行。没有更多了。",
};
