export const zh = {
  "Never deployed": "从未部署",
  Waiting: "等待中",
  "Not started": "尚未启动",
  Compiling: "编译中",
  Checking: "检查中",
  Staging: "准备中",
  Starting: "启动中",
  Restarting: "重启中",
  Asleep: "休眠中",
  Paused: "已暂停",
  Degraded: "异常",
  Stopping: "停止中",
  "Kafka Streams' results": "Kafka Streams 的结果",
  "Plain PySpark": "普通 PySpark",
  "Not available for plain PySpark": "普通 PySpark 不支持",
  "Deploy with the code “Kafka Streams' results” for that.":
    "如需此功能，请以“Kafka Streams 的结果”方式部署。",
};
