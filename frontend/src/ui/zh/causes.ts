/**
 * Causes by their code: why a deployment failed or waits, why a generator does not write, why Kafka Streams could not
 * be compared with. Values in braces are facts of the cause; `{message}` is its sentence in English, where Kafka,
 * Spark, Java or a person's own code wrote it, and `{cause}` the cause that it quotes. Codes that are missing here are
 * in `errors` or `diagnostics`.
 */

export const causes: Readonly<Record<string, string>> = {
  // ---- starting and watching drivers
  batch_late: "微批已 {seconds} 秒没有结束；其期限为 {deadline} 秒。",
  driver_failed: "驱动程序失败：{message}",
  driver_lost: "驱动程序意外结束（退出码 {exit_code}）。请查看其日志。",
  driver_silent: "驱动程序已 {seconds} 秒没有报告。",
  fell_back: "版本 {version} 未能接替版本 {before}：{cause} 版本 {before} 在运行。",
  restart_limit: "驱动程序在 {minutes} 分钟内丢失了 {count} 次。上一次：{cause}",
  start_failed: "无法启动驱动程序：{message}",
  start_timeout: "驱动程序在 {seconds} 秒内没有就绪，已被终止。",
  // ---- records
  deserialization: "无法反序列化记录：{message}",
  function_failed: "函数失败：{message}",
  processing: "处理记录时出错：{message}",
  production: "无法写入记录：{message}",
  registry: "模式注册表没有给出所需的模式：{message}",
  timestamp: "记录没有有效的时间戳：{message}",
  // ---- Kafka and storage
  broker_unreachable: "无法连接 Kafka broker：{message}",
  disk_full: "磁盘已满。请释放一些空间。",
  kafka_refused: "Kafka 拒绝了请求：{message}",
  not_authenticated: "Kafka broker 拒绝了凭据。请检查用户、密码、机制和证书。",
  not_authorized: "Kafka broker 不允许此作业使用其主题或消费者组。请检查 ACL。",
  offsets_lost:
    "broker 已没有接下来的记录：选择“从第一条记录继续”会丢失 {earliest} 条记录，选择“从末尾继续”会丢失 {latest} 条。请在“丢失的偏移量”设置中选择一项，或从其他偏移量开始。",
  partition_missing: "主题 {topic} 没有分区 {partition}：其分区为 0 到 {last}。",
  storage_unreachable:
    "检查点的存储没有响应，或拒绝了请求。请检查其地址、网络、凭据以及它是否在运行。",
  topic_missing: "Kafka 集群没有主题 {topic}。请更正其名称，创建它，或在部署时选择创建缺少的主题。",
  topic_recreated:
    "自作业读取以来，这些主题已被删除或重新创建：{topics}。旧主题中未读的记录已丢失。选择“从第一条记录继续”会读取整个新主题，并丢失其他主题的 {earliest} 条记录；选择“从末尾继续”会跳过 {latest} 条记录。请在“丢失的偏移量”设置中选择一项，或从其他偏移量开始。",
  // ---- checkpoints and state
  batch_unfinished:
    "上一个微批在恰好一次写入的中途被中断。请运行之前的版本直到该微批完成，停止它，然后重新启动。",
  checkpoint_gone:
    "检查点已不存在，此部署的存储和偏移量也随之丢失。请恢复它，或从空存储开始：选择“从第一条记录继续”会重新读取主题中的 {there} 条记录，不含已删除的 {deleted} 条；选择“从末尾继续”会全部跳过。请在“丢失的偏移量”设置中选择一项，或重置存储。",
  checkpoint_in_use: "另一个驱动程序正在使用此检查点。",
  checkpoint_lease_lost:
    "未能及时续订检查点的租约：进程曾被停止，存储没有响应，或另一个驱动程序已接管。",
  checkpoint_mismatch: "检查点与此作业不符。请从新的检查点开始，或恢复之前的版本。{message}",
  checkpoint_unwritable: "检查点的文件夹不可写：{message}",
  state_incompatible: "存储中的数据不能按新的类型读取：{message}",
  state_not_moved: "状态没有完整地移到新的检查点：{message}",
  state_not_ready: "查询的表没有保存自己的数据：{message}",
  // ---- the job
  jar_broken: "下载的 jar 文件已损坏：{message}",
  jar_not_fetched: "无法下载 jar 文件：{message}",
  jars_missing: "缺少 jar 文件：{message}",
  java_missing: "没有找到 Java。请安装 Java 17 或 21 的运行时，或将 JAVA_HOME 设为其位置。",
  operator_missing: "作业缺少流任务的算子。请重新导出作业。{message}",
  operator_not_compiled: "流任务的算子无法编译：{message}",
  option_missing: "作业缺少选项：{message}",
  program_ended: "程序自行结束了。",
  python_packages: "Spark 的 transformWithState 需要 pandas 和 pyarrow，它们没有安装。",
  reader_columns: "读取的列与声明不符：{message}",
  reader_forbidden: "不允许读取这个位置：{message}",
  reader_partition: "分区的列不合适：{message}",
  reader_refused: "Spark 拒绝读取：{message}",
  reader_types: "读取的列的类型与声明不符：{message}",
  real_time_exactly_once:
    "实时模式至少处理每条记录一次，但该拓扑要求恰好一次。请将处理保证改为至少一次，或以微批运行。",
  real_time_function: "实时模式没有可传给函数的微批。请以微批运行作业，或写入主题。",
  real_time_reader:
    "实时模式只从 Kafka 读取，但这个源读取 DataFrame。请以微批运行作业，或读取主题。",
  real_time_slots: "实时模式下所有任务同时运行，但核心不足。请使用更多核心，或以微批运行作业。",
  shadow_not_possible: "现在无法启动影子：{message}",
  shadow_overtaken:
    "运行中的部署从更早的偏移量重新启动了，因此不能再比较输出。请结束影子，并启动另一个。",
  spark_not_started:
    "Spark 的进程在启动时结束了。请查看日志，并检查 Java、内存设置和 Spark 的设置。",
  // ---- generators
  kafka_full: "Kafka 暂时不接受记录；记录会等待，直到它接受为止。",
  not_written: "无法写入一条记录：{reason}。",
  // ---- comparisons with Kafka Streams
  oracle_cannot: "Kafka Streams 的测试驱动程序无法运行它：{message}",
  oracle_failed: "Kafka Streams 的 JVM 意外结束。",
  oracle_not_compiled: "与 Kafka Streams 比较所用的程序无法编译：{message}",
  streams_ended: "Kafka Streams 的进程意外结束。",
  streams_failed: "比较失败：{reason}",
  streams_gone: "比较的进程已不存在。",
  streams_missing: "此安装没有可供比较的 Kafka Streams。",
  streams_not_started: "无法启动 Kafka Streams：{reason}",
  streams_too_long: "Kafka Streams 的运行超过了 {seconds} 秒。",
};
