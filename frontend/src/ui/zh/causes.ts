/**
 * Causes by code: why a deployment failed or waits, the progress of its steps, why a generator does not write, why a
 * value cannot be written or read, why a comparison with Kafka Streams is not possible. Values in braces are facts of
 * the cause; `{reason}` and `{message}` are texts from Kafka, Spark, Java or a person's own code, and `{cause}` is the
 * cause that it quotes. Of several sentences, the first is shown whose values are all available. Codes that are missing
 * here are in `errors` or `diagnostics`.
 */

import type { Alternatives } from "../i18n";

export const causes: Readonly<Record<string, Alternatives>> = {
  // ---- steps of a deployment
  cold_cluster: "运行中的驱动程序占用集群的核心，因此先停止它。",
  cold_memory:
    "第二个驱动程序需要 {needed} MB 内存，但只有 {free} MB 可用，因此先停止运行中的驱动程序。",
  cold_paused: "部署已暂停，没有需要继续运行的驱动程序。",
  cold_plain: "普通 PySpark 程序不能在另一个驱动程序旁等待，因此先停止运行中的驱动程序。",
  moving_state: "正在移动状态：读取中。",
  moving_state_checked: "正在移动状态：已写入 {rows} 行，正在读回核对。",
  moving_state_written: "正在移动状态：已写入 {rows} 行。",
  partitions_differ: "主题的分区数与拓扑声明的不同（实际 ≠ 声明）：{topics}",
  standby_prepares: "正在准备新的驱动程序；之前的驱动程序继续运行。",
  standby_cluster: "Spark 集群上没有第二个驱动程序。",
  standby_memory: "第二个驱动程序需要 {needed} MB 内存，但只有 {free} MB 可用。",
  standby_paused: "部署已暂停。",
  standby_plain: "普通 PySpark 没有第二个驱动程序。",
  standby_took_over: "备用驱动程序已接管。",
  // ---- starting and watching drivers
  batch_late: "微批已 {seconds} 秒没有结束；其期限为 {deadline} 秒。",
  driver_failed: "驱动程序失败。请查看其日志。",
  driver_lost: "驱动程序意外结束（退出码 {exit_code}）。请查看其日志。",
  driver_restarted: "{cause}驱动程序已重新启动，并保存了线程转储。",
  driver_silent: "驱动程序已 {seconds} 秒没有报告。",
  fell_back: "版本 {version} 未能接替版本 {before}（版本 {before} 在运行）：{cause}",
  host_full: "该部署与其他部署共用的 JVM 的堆已满，将在自己的 JVM 中重新启动。",
  host_lost: "该部署与其他部署共用的 JVM 已结束。",
  restart_limit: "驱动程序在 {minutes} 分钟内丢失了 {count} 次。上一次：{cause}",
  start_ended: "驱动程序一启动就结束了。请查看其日志。",
  start_failed: "无法启动驱动程序：{reason}",
  start_slow: "驱动程序没有在 {seconds} 秒内启动。",
  start_timeout: "驱动程序在 {seconds} 秒内没有就绪，已被终止。",
  // ---- records
  deserialization: ["无法反序列化记录：{cause}", "无法反序列化记录：{message}"],
  format: "格式无效：{reason}",
  function_failed: "节点 {node} 的函数在批次 {batch} 中失败：{reason}",
  processing: ["处理记录时出错：{cause}", "处理记录时出错：{message}"],
  production: ["无法写入记录：{cause}", "无法写入记录：{message}"],
  registry: [
    "模式注册中心没有给出所需的模式：{cause}",
    "模式注册中心没有给出所需的模式：{reason}",
    "模式注册中心没有给出所需的模式：{message}",
  ],
  timestamp: ["记录没有有效的时间戳：{cause}", "记录没有有效的时间戳：{message}"],
  // ---- bytes of records
  bytes_avro: "字节不符合 Avro 模式：{reason}",
  bytes_boolean: "字节 {found} 不是布尔值。",
  bytes_cut: "字节在 Protobuf 字段的中间结束。",
  bytes_encoding: "不是 UTF-8：位置 {position} 的字节无效。",
  bytes_field: "字节不是 Protobuf（字段号为 0）。",
  bytes_field_wire: "字段 {field} 的 wire 类型为 {found}，应为 {needed}。",
  bytes_header: "缺少模式注册中心的头部。开头的字节：{start}",
  bytes_header_path: "模式注册中心的头部没有指向消息的有效路径。开头的字节：{start}",
  bytes_long: "字节比 Avro 模式允许的更长。",
  bytes_message: "模式 {id} 在 {path} 处没有消息。",
  bytes_other_message: "记录是 {found}，应为 {needed}。",
  bytes_schema: "模式 {id} 不是 Avro 模式：{reason}",
  bytes_short: "字节比 Avro 模式要求的更短。",
  bytes_size: "格式 {format} 需要 {needed} 个字节，但有 {found} 个。",
  bytes_unknown_schema: "模式注册中心没有记录所引用的模式 {id}。",
  bytes_varint: "varint 过长。",
  key_without_window: "窗口键需要窗口，但窗口为空。",
  bytes_window: "窗口键至少需要 {needed} 个字节，但有 {found} 个。",
  bytes_wire: "字节不是 Protobuf（wire 类型 {found}）。",
  json_array: "{place} 处是数组，应为 {needed}。",
  json_invalid: "不是有效的 JSON：{reason}",
  json_missing: "没有 JSON 值。",
  json_more: "有多个 JSON 值。",
  json_object: "{place} 处是对象，应为 {needed}。",
  json_type: "{place} 处是 {found}，应为 {needed}。",
  // ---- values of records
  array_null: "数组为 null。",
  buffer_full:
    "缓冲区有 {records} 条记录、{bytes} 字节，超过了 max_records 或 max_bytes 的允许值。",
  element_null: "元素 {index} 为 null。",
  group_without_key: "表的分组需要键，但键为 null。",
  handler_failed: "处理程序失败：{reason}。它因以下错误被调用：{failure}",
  record_rejected: "记录不满足 `{predicate}`。",
  record_rejected_not: "记录满足 `{predicate}`。",
  record_too_large: "主题 {topic} 的记录有 {bytes} 字节；max.request.size 允许 {most} 字节。",
  partition_beyond: "没有分区 {partition}：主题 {topic} 有 {count} 个分区，从 0 开始编号。",
  partition_negative: "没有分区 {partition}。",
  python_lost: "Python 进程意外结束（退出码 {exit_code}）。",
  python_timeout: "调用没有在 {limit} ms 内返回；其 Python 进程已被终止。",
  text_boolean: "布尔值为 true 或 false。",
  text_hexadecimal: "不是十六进制数字：{reason}",
  text_number: "“{text}”不是 {size} 字节的 {format}。",
  timestamp_negative: "时间戳 {time} 为负数。",
  timestamp_null: "时间戳为 null。",
  topic_name: "“{topic}”不是有效的主题名称：最多使用 249 个字母、数字、“.”、“_”和“-”。",
  topic_null: "主题为 null。",
  update_without_key: "分组表的更新需要键，但键为 null。",
  waiting_without_key: "等待其表的记录需要键，但键为 null。",
  window_without_length: "时间差为 0 的滑动窗口没有长度，不能计入任何记录。",
  write_element_null: "{field} 的元素 {index} 为 null，Protobuf 不能表示它。",
  write_enum: "{field} 的值“{value}”不是枚举 {enum} 的符号。",
  write_null: "{field} 为 null，但 Avro 模式不允许 null。",
  write_number: "{field} 的值 {value} 超出 {type} 的范围。",
  write_size: "{field} 有 {found} 个字节，但 Avro 模式要求 {needed} 个。",
  // ---- Kafka and storage
  broker_unreachable: [
    "Kafka（{servers}）没有响应：“{reason}”。",
    "Kafka（{servers}）在 {seconds} 秒内没有响应。请检查其地址、网络以及它是否在运行。",
    "Kafka broker 没有响应。请检查其地址、网络以及它是否在运行。",
  ],
  disk_full: "磁盘已满。请释放一些空间。",
  not_authenticated: "Kafka broker 拒绝了凭据。请检查用户、密码、机制和证书。",
  not_authorized: "Kafka broker 不允许此作业使用其主题或消费者组。请检查 ACL。",
  offsets_lost: [
    "broker 已没有接下来的记录：选择“从第一条记录继续”会丢失 {earliest} 条记录，选择“从末尾继续”会丢失 {latest} 条。请在“丢失的偏移量”设置中选择一项，或从其他偏移量开始。",
    "broker 在作业读取之前删除了记录。请检查主题的保留时间。",
  ],
  partition_missing: "主题 {topic} 没有分区 {partition}：其分区为 0 到 {last}。",
  registry_answer: "模式注册中心 {registry} 返回状态 {status}：{reason}",
  registry_path: "模式注册中心 {registry} 没有 {path}。",
  registry_references: "模式注册中心 {registry} 的模式引用了过多的其他模式。",
  registry_schema_size: "模式注册中心 {registry} 返回的模式过大。",
  topic_missing: [
    "Kafka 集群没有主题 {topic}。请更正其名称，创建它，或在部署时选择创建缺少的主题。",
    "作业读取或写入的一个主题在 Kafka 集群上不存在。请创建它。",
  ],
  topic_recreated:
    "自作业读取以来，这些主题已被删除或重新创建：{topics}。旧主题中未读的记录已丢失。选择“从第一条记录继续”会读取整个新主题，并丢失其他主题的 {earliest} 条记录；选择“从末尾继续”会跳过 {latest} 条记录。请在“丢失的偏移量”设置中选择一项，或从其他偏移量开始。",
  // ---- checkpoints and state
  batch_unfinished:
    "上一个微批在恰好一次写入的中途被中断。请运行之前的版本直到该微批完成，停止它，然后重新启动。",
  checkpoint_gone:
    "检查点已不存在，此部署的存储和偏移量也随之丢失。请恢复它，或从空存储开始：选择“从第一条记录继续”会重新读取主题中的 {there} 条记录，不含已删除的 {deleted} 条；选择“从末尾继续”会全部跳过。请在“丢失的偏移量”设置中选择一项，或重置存储。",
  checkpoint_in_use: "另一个驱动程序正在使用此检查点：{holder}",
  checkpoint_lease_lost:
    "未能及时续订检查点的租约：进程曾被停止，存储没有响应，或另一个驱动程序已接管。",
  checkpoint_mismatch_batches:
    "{folder} 中的检查点是以微批写入的，处理器在那里使用另一种系统时钟。请以之前的方式运行作业，或从新的检查点开始。",
  checkpoint_mismatch_clock:
    "{folder} 中的检查点是以实时模式写入的，处理器在那里使用另一种系统时钟。请以之前的方式运行作业，或从新的检查点开始。",
  checkpoint_mismatch_kind:
    "在 {folder} 的检查点中，存储 {store} 的类型是 {before}，现在是 {now}。请从新的检查点开始。",
  checkpoint_mismatch_layout:
    "{folder} 中的检查点以布局 {found} 写入；此版本支持布局 {known}。请从新的检查点开始。",
  checkpoint_mismatch_level:
    "在 {folder} 的检查点中，存储 {store} 在第 {before} 级，现在在第 {now} 级。请从新的检查点开始。",
  checkpoint_mismatch_levels:
    "{folder} 中的检查点由有 {before} 级的作业写入；此作业有 {now} 级。请从新的检查点开始。",
  checkpoint_mismatch_notes: "无法读取 {file}：它不完整，或由另一个版本写入。请从新的检查点开始。",
  checkpoint_mismatch_offsets:
    "{folder} 中的检查点的偏移量不能更改：它由旧版本写入，或由读取 DataFrame 的作业写入。请同时重置其存储，或从新的检查点开始。",
  checkpoint_mismatch_readers:
    "写入 {folder} 中的检查点的作业为这些节点读取 DataFrame：{before}；此作业为这些节点读取：{now}。请从新的检查点开始。",
  checkpoint_mismatch_tasks:
    "{folder} 中的检查点由有 {before} 个任务的作业写入；此作业有 {now} 个任务。请从新的检查点开始。",
  checkpoint_mismatch_topology:
    "{folder} 中的检查点属于另一个拓扑，其数据源：{sources}。请使用其他检查点。",
  checkpoint_unwritable: "检查点的文件夹 {folder} 不可写：{reason}",
  state_incompatible: "存储 {store} 中的值的类型是 {before}，不能作为 {now} 读取。",
  state_not_moved:
    "状态没有完整地移到新的检查点：第 {level} 级写入了 {written} 行，但读回 {found} 行。",
  state_not_ready: "被查询的表 {table} 没有保存自己的行，现在在另一级运行。请为它连接一个存储。",
  state_types: "存储 {store} 的任务中的值有不同的类型：{first} 和 {second}。",
  // ---- the job
  jar_broken:
    "下载的 {file} 已损坏或不是发布的文件，已被删除：其 sha256 是 {found}，应为 {needed}。",
  jar_not_fetched:
    "无法下载 {jar}。请检查网络，将 MILLRACE_JAR_MIRROR 设为镜像，或将 MILLRACE_JARS 设为含有 jar 文件的文件夹。下载的输出：{reason}",
  jars_missing: "{folder} 中没有 {files}。请添加这些文件，或删除 MILLRACE_JARS 以便下载它们。",
  java_missing: "没有找到 Java。请安装 Java 17 或 21 的运行时，或将 JAVA_HOME 设为其位置。",
  operator_missing: "缺少流任务的算子 {file}。请重新导出作业。",
  operator_not_compiled: "流任务的算子无法编译：{reason}",
  option_missing: "作业缺少选项 {option}。",
  program_ended: "程序自行结束了。",
  program_refused: "程序无法运行：{reason}",
  python_packages: "Spark 的 transformWithState 需要 pandas 和 pyarrow，它们没有安装。",
  query_failed: "查询“{query}”失败：{reason}",
  reader_columns: "没有列 {column}。现有的列：{known}。请选择一列 AS {column}，或设置读取器的列。",
  reader_expression: "列 {column} 的表达式无效：{reason}",
  reader_forbidden:
    "此处不允许读取器 {reader} 或其某个选项：只能读取 {listed} 中列出的位置的文件。",
  reader_option_forbidden: "此处不允许读取器 {reader} 的选项 {option}。允许的选项：{known}。",
  reader_forbidden_path: "此处不能读取 {path}：它不在 {listed} 列出的位置中。",
  timestamp_function:
    "它的时间戳决定多个主题或分区中下一条记录是哪一条，任务尚未取得记录时就需要，因此不能由在 Python 中运行的函数给出。请使用表达式或可以翻译的函数；或在处理器中设置时间戳 record.replace(timestamp=...)，并对其记录重新分区。",
  reader_not_streaming: "DataFrame 不是流式 DataFrame。请使用 spark.readStream。",
  reader_of_program: "DataFrame 在程序中定义。请运行程序，而不是它的文档。",
  reader_partition: "给出的分区不存在：{topic} 有 {count} 个分区，从 0 开始编号。",
  reader_refused: "Spark 拒绝读取：{reason}",
  reader_types: "列 {column} 的类型是 {found}；其格式需要 {needed} 或字节。",
  real_time_exactly_once:
    "实时模式至少处理每条记录一次，但该拓扑要求恰好一次。请将处理保证改为至少一次，或以微批运行。",
  real_time_function: "实时模式没有可传给函数的微批。请以微批运行作业，或写入主题。",
  real_time_reader:
    "实时模式只从 Kafka 读取，但这个数据源读取 DataFrame。请以微批运行作业，或读取主题。",
  real_time_slots: "实时模式下所有任务同时运行，但核心不足。请使用更多核心，或以微批运行作业。",
  shadow_not_possible: "现在无法启动影子：运行中的部署没有检查点。",
  shadow_state_moving: "现在无法启动影子：运行中的部署的状态正在移动。请在其下一个微批后重试。",
  shadow_overtaken:
    "运行中的部署从更早的偏移量重新启动了，因此不能再比较输出。请结束影子，并启动另一个。",
  spark_not_started:
    "Spark 的进程在启动时结束了。请查看日志，并检查 Java、内存设置和 Spark 的设置。",
  // ---- generators
  generator_with_deployment: "它已随“{topology}”的部署停止，并会随部署重新启动。",
  kafka_full: "Kafka 暂时不接受记录；记录会等待，直到它接受为止。",
  not_written: "无法写入一条记录：{reason}。",
  // ---- comparisons with Kafka Streams
  oracle_cannot: "Kafka Streams 的测试驱动程序无法运行它：{reason}",
  oracle_failed: "Kafka Streams 的 JVM 意外结束。",
  oracle_not_compiled: "与 Kafka Streams 比较所用的程序无法编译：{reason}",
  streams_ended: "Kafka Streams 的进程意外结束。",
  streams_failed: "比较失败：{reason}",
  streams_gone: "比较的进程已不存在。",
  streams_missing: "此安装没有可供比较的 Kafka Streams。",
  streams_not_started: "无法启动 Kafka Streams：{reason}",
  streams_too_long: "Kafka Streams 的运行超过了 {seconds} 秒。",
};
