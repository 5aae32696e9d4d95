export const plan = {
  "{n} {n|task|tasks}, assumed": "{n} 个任务（假定）",
  "{n} {n|partition|partitions} (on the broker)": "{n} 个分区（来自 broker）",
  "{n} {n|partition|partitions} (declared by the topology)": "{n} 个分区（由拓扑声明）",
  "{n} {n|partition|partitions} (assumed)": "{n} 个分区（假定）",
  "No plan yet": "尚无计划",
  "Once the topology compiles, its sub-topologies, tasks and internal topics are listed here.":
    "拓扑编译通过后，此处列出其子拓扑、任务和内部主题。",
  Overview: "概览",
  Describe: "描述",
  Reads: "读取",
  Writes: "写入",
  "Internal topic": "内部主题",
  Kind: "类型",
  repartition: "重分区",
  changelog: "变更日志",
  "{n} {n|sub-topology|sub-topologies}": "{n} 个子拓扑",
};
