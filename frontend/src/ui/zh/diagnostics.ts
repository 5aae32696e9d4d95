/**
 * The compiler's diagnostics by code: message and hint. Values in braces are facts of the diagnostic, named as in
 * `compiler/millrace_compiler/diagnostics/messages`.
 */

export const diagnostics: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  parameter_name: ["{found} 不是参数名。", "请使用小写字母、数字和 _，并以字母开头。"],
  parameter_value: ["{name} 是 {found}。", "应为{needed}。"],
  parameter_unused: ["没有节点或设置使用参数 {name}。", "请在需要其值的地方使用它，或将其移除。"],
  placeholder_unknown: ["拓扑没有参数 {name}。", "{guess}请在拓扑的参数中声明它。"],
  no_results: [
    "结果没有去处：拓扑没有汇，没有可查询的存储，也没有处理器。",
    "请添加一个汇，例如“写入主题”。",
  ],
  self_join_inner: [
    "优化把流与自身的 {type} 连接变为内连接，与 Kafka Streams 相同：没有匹配的记录不产生结果。",
    "请改为内连接，或在拓扑的设置中选择其他优化。",
  ],
  no_nodes: ["拓扑没有节点。", "请添加一个源和一个汇。"],
  unknown_key: ["{place} 有未知的键。", "该键被忽略。已知的键：{known}。"],
  node_id_twice: ["ID {found} 被使用了两次。", "请修改其中一个节点的 ID。"],
  topic_name: [
    "{found} 不是有效的主题名称。",
    "请使用字母、数字、“.”、“_”和“-”，最多 249 个字符。",
  ],
  topic_not_allowed: [
    "此工作区不能使用主题“{topic}”。",
    "此工作区的主题以下列前缀开头：{prefixes}",
  ],
  topic_internal: ["此工作区不能使用主题“{topic}”。", "以 {prefix} 开头的主题属于 Kafka 自己。"],
  topic_pattern_not_allowed: [
    "模式“{pattern}”可能匹配此处不允许的主题。",
    "此工作区的主题以下列前缀开头：{prefixes}",
  ],
  topic_pattern_internal: [
    "模式“{pattern}”可能匹配此处不允许的主题。",
    "以 {prefix} 开头的主题属于 Kafka 自己。",
  ],
  topic_expression_not_allowed: [
    "表达式可能给出此处不允许的主题。",
    "此工作区的主题以下列前缀开头：{prefixes}",
  ],
  topic_partitions: ["主题 {topic} 有 {found} 个分区。", "请使用 1 到 {most} 之间的整数。"],
  kind_unknown: ["未知的类型 {found}。", "{guess}已知的类型：{known}。"],
  cycle: ["该节点在一个环中：{through}。", "请删除其中一条边，或写入主题后再读回。"],
  edge_end: ["一条边指向不存在的 {missing}。", "{guess}请删除该边，或连接一个节点。"],
  edge_from_sink: [
    "汇没有输出，但有一条边从它指向 {target}。",
    "请将 {target} 连接到汇之前的节点。",
  ],
  edge_from_store: ["存储 {store} 连接到了用于记录的端口。", "请将它连接到算子的“store”端口。"],
  edge_into_store: ["一条来自 {source} 的边以存储为终点。", "请从存储画边到算子的“store”端口。"],
  edge_no_store: [
    "{source} 连接到“store”端口，但 {target} 不能将它用作存储。",
    "请连接存储节点；处理器还可以连接表、聚合或全局表。",
  ],
  takes_no_store: ["“{kind}”没有存储，但连接了 {store}。", "请删除该边。"],
  port_unknown: ["没有名为“{port}”的 {side} 端口。", "{guess}可用的端口：{known}。"],
  input_missing: ["输入“{port}”没有连接任何节点。", "请将一个节点连接到它。"],
  input_twice: ["输入“{port}”连接了多个节点：{sources}。", "请只保留一条边，或先合并这些流。"],
  role: [
    "输入“{port}”收到 {found}，但需要 {needed}。",
    "请插入“转为表”或“转为流”节点，或连接其他节点。",
  ],
  types_differ: ["值的类型不同：{first} 和 {second}。", "请先用“映射值”转换其中一个。"],
  key_types_differ: [
    "键的类型不同：{first} 和 {second}。",
    "请先用“选择键”或“映射”转换流的键。表在此之前需要“转为流”，之后需要“转为表”。",
  ],
  parameter_unknown: ["{kind} 没有这个参数。", "{guess}已知的参数：{known}。"],
  parameter_missing: ["“{title}”是必填的。", "请填写。"],
  parameter_type: ["找到 {found}。", "应为 {needed}。"],
  out_of_bounds: ["找到 {found}。", "应为 {needed}。"],
  choice: ["找到 {found}。", "请选择其中之一：{choices}。"],
  duration: [
    "{found} 不是时长。",
    "请使用整数毫秒，或“250 ms”、“5 seconds”、“2 hours”、“7 days”这样的文本。",
  ],
  duration_too_short: ["时长 {found} 太短。", "至少为 {least} ms。"],
  one_of: ["必须恰好设置 {names} 中的一个。", "请设置其中一个，另一个留空。"],
  only_with: ["设置了此项，但“{other}”不是“{value}”。", "请删除它，或将“{other}”设为“{value}”。"],
  needed_with: ["因为“{other}”是“{value}”，所以此项是必填的。", "请填写，或修改“{other}”。"],
  name_twice: ["{what} {name} 列出了两次。", "请只列出一次。"],
  unknown_part: ["未知的属性 {part}。", "已知的属性：{known}。"],
  part_missing: ["属性 {part} 是必填的。", "请填写。"],
  type: [
    "“{found}”不是 Spark 类型：{reason}。",
    "请使用 BIGINT、ARRAY<STRING> 或 STRUCT<a: INT> 这样的类型。",
  ],
  format: ["未知的格式 {found}。", "已知的格式：{choices}。"],
  format_part: ["格式 {format} 没有属性 {part}。", "请删除它。"],
  format_windowed_value: ["{format} 是键的格式。", "请为值选择其他格式，例如“json”。"],
  format_window_size: [
    "缺少窗口的大小。键的字节只包含窗口的起点。",
    "请填写窗口的大小，例如“5 minutes”。",
  ],
  sink_key_window: ["键的窗口类型是 {window}，但 {format} 用于其他窗口。", "请选择“{other}”。"],
  format_schema: [
    "格式 {format} 需要模式。",
    "请用 Spark DDL 添加模式，例如“item STRING, quantity INT”。",
  ],
  format_bad_schema: ["{format} 模式无效：{reason}。", "请更正模式。"],
  sink_format: [
    "格式 {format} 写入 {needed}，但值是 {found}。",
    "请选择匹配的格式，或先用“映射值”转换值。",
  ],
  sink_key_format: [
    "格式 {format} 写入 {needed}，但键是 {found}。",
    "请选择匹配的格式，或先用“选择键”或“映射”转换键；表在此之前需要“转为流”。",
  ],
  expression_empty: ["表达式为空。", "请编写 Spark SQL 表达式。"],
  expression_syntax: ["这不是有效的 Spark SQL：{reason}", "请更正标记的部分。"],
  expression_unclosed: ["缺少“{needed}”。", "请补上缺少的“{needed}”。"],
  expression_open_quote: ["字符串以 {quote} 开头但没有结束。", "请在末尾添加 {quote}。"],
  expression_ends: ["表达式不完整。", "请补全它。"],
  expression_statement: ["这是语句，不是表达式。", "请只写表达式，不要写 SELECT 或 FROM。"],
  expression_function: ["没有函数“{found}”。", "您是指 {nearest} 吗？"],
  expression_function_other: ["没有函数“{found}”。", "请使用 Spark 的内置函数。"],
  expression_column: ["这里没有列“{found}”。", "您是指 {nearest} 吗？可用的列：{known}。"],
  expression_column_other: ["这里没有列“{found}”。", "可用的列：{known}。"],
  expression_no_columns: ["这里没有列“{found}”。", "初始值没有列，请使用常量。"],
  expression_field: ["没有字段“{found}”。", "您是指 {nearest} 吗？可用的字段：{known}。"],
  expression_field_other: ["没有字段“{found}”。", "可用的字段：{known}。"],
  expression_no_parts: ["{base} 是 {type}，没有字段。", "只有 STRUCT、ARRAY 或 MAP 有字段或元素。"],
  expression_arguments: ["{function} 需要 {needed}，但得到 {found}。", "用法：{usage}。"],
  expression_sides: ["左侧是 {left}，右侧是 {right}。", "请转换其中一侧，例如使用 CAST(… AS …)。"],
  expression_operand: ["应为 {needed}，但这是 {found}。", "请转换它，或使用其他运算符。"],
  expression_argument: [
    "{argument} 是 {found}，但应为 {needed}。",
    "请转换它，例如使用 CAST(… AS …)。",
  ],
  expression_cast: ["{found} 不能转换为 {needed}。", "请转换其元素，或选择其他类型。"],
  expression_aggregate: [
    "{found} 是聚合函数，但表达式只对一条记录求值。",
    "请使用聚合，例如“计数”或“聚合”。",
  ],
  expression_generator: [
    "{found} 返回多行，但表达式只返回一个值。",
    "请将数组本身传给“展开映射”或“展开映射值”。",
  ],
  expression_window: ["{found} 是窗口函数，但表达式只对一条记录求值。", "请使用聚合的窗口。"],
  expression_subquery: ["不支持子查询：表达式只对一条记录求值。", "请改为连接其他数据。"],
  expression_present_time: [
    "{found} 返回当前时间；重新处理的记录必须得到相同的结果。",
    "请使用列 timestamp，或在流的步骤中使用 now()，即记录下来的处理时间。",
  ],
  expression_random: [
    "{found} 每次返回不同的值；重新处理的记录必须得到相同的结果。",
    "在流的步骤中，rand()、randn() 和 uuid() 会再次给出相同的值。在其他地方，请从记录派生该值，例如使用 xxhash64(value)。",
  ],
  expression_evaluated_again: [
    "“{found}”使用随机值或当前时间，但此表达式可能会对同一记录再次求值。",
    "请在此节点之前的流上用“映射值”计算该值，然后在此处使用。",
  ],
  expression_random_element: [
    "{found} 对所有元素都会相同：每条记录只取一次随机值。",
    "请先使用“展开映射值”，再在“映射值”中为每条记录取值。",
  ],
  expression: ["Spark 拒绝该表达式：{reason}", "请更正标记的部分。"],
  expression_type: ["表达式返回 {found}，但应为 {needed}。", "请转换它，例如使用 CAST(… AS …)。"],
  window_part: ["{type} 窗口没有 {part}。", "已知的属性：{known}。"],
  window_part_missing: ["{type} 窗口的 {part} 是必填的。", "请输入时长。"],
  window_size_and_unit: ["窗口同时有大小和日历单位。", "请删除其中之一。"],
  window_zone: [
    "固定大小的窗口没有时区。",
    "请设置单位（day、week、month、quarter 或 year）来代替大小，或使用偏移。",
  ],
  window_zone_unknown: [
    "{found} 不是时区。",
    "{guess}请使用 IANA 时区数据库中的名称，例如 Europe/Paris，或 UTC。",
  ],
  window_offset: ["偏移 {offset} 不小于下一个窗口开始之前的 {between}。", "请使用较小的偏移。"],
  window_advance: [
    "窗口每次前进 {advance} ms，大于其大小 {size} ms。",
    "前进不能大于窗口大小，否则窗口之间的记录会丢失。",
  ],
  emit_unlimited: ["无限窗口永不关闭，因此没有最终结果。", "请选择“每次更新”，或其他窗口。"],
  emit_custom: [
    "与 Kafka Streams 一样，自定义窗口没有最终结果。",
    "请选择“每次更新”，并用“抑制”等到窗口关闭。",
  ],
  window_function: [
    "窗口的代码没有函数。",
    "请定义一个函数：接收毫秒时间戳，返回若干（起点，终点）。",
  ],
  window_arguments: ["{name} 不能只用一个时间戳调用。", "最后一个函数只接收一个参数：毫秒时间戳。"],
  store_headers: [
    "{operator} 的行没有消息头：只有处理器会把消息头写入存储。",
    "请关闭该存储的消息头。",
  ],
  merger_missing: ["会话窗口需要合并表达式。", "请添加基于 left 和 right 的表达式。"],
  merger_unwanted: ["合并表达式只用于会话窗口。", "请删除它，或选择会话窗口。"],
  only_for_tables: ["此项只用于表，而输入是流。", "请删除它。"],
  only_for_streams: ["此项只用于流，而输入是表。", "请删除它，或在之前插入“转为流”节点。"],
  needed_for_tables: ["对表进行聚合时，此项是必填的。", "请填写。"],
  join_window: [
    "连接窗口为空：之前 {before} ms 到之后 {after} ms。",
    "before 与 after 之和不能为负数。",
  ],
  join_grace: ["连接设置了宽限期，但表没有版本。", "请将版本化存储连接到该表，或删除宽限期。"],
  join_grace_history: [
    "宽限期 {found} ms 比该表的历史 {history} ms 更长。",
    "请在版本化存储中设置更长的历史，或缩短宽限期。",
  ],
  suppress_window: ["该表没有窗口，因此没有窗口会关闭。", "请选择“达到时限”，或按窗口聚合。"],
  not_copartitioned: [
    "输入没有共同分区：{topics}。",
    "请使用分区数相同的主题，或在之前插入“重新分区”节点。",
  ],
  topic_roles: [
    "主题 {topic} 同时作为流和表读取，另一处是 {other}。",
    "请只作为流或只作为表读取一次。",
  ],
  topic_formats: ["{other} 以其他格式读取主题 {topic}。", "请在两处使用相同的格式。"],
  topic_table_twice: ["主题 {topic} 已作为表 {other} 读取。", "请将后续节点连接到 {other}。"],
  store_twice: ["连接了多个存储：{stores}。", "一个算子只有一个存储。"],
  store_name_twice: ["名称 {name} 也被 {other} 使用。", "请选择其他名称。"],
  store_unused: ["该存储没有连接。", "请将它连接到算子的“store”端口。"],
  argument_unknown: ["{class_name} 没有参数 {name}。", "{guess}它的参数：{known}。"],
  argument_missing: ["{class_name} 需要参数 {name}。", "请添加它，或在代码中为它设置默认值。"],
  method_missing: [
    "{class_name} 没有用于输入“{name}”的记录的方法 {name}。",
    "请添加方法 {name}(self, record)，或删除该输入。",
  ],
  store_missing: ["没有连接存储。", "请将该类写入的存储连接到“store”端口。"],
  store_shared: [
    "多个算子将结果保存在该存储中：{users}。",
    "请为每个算子使用单独的存储。只有处理器可以共享存储，或读取表的存储。",
  ],
  store_cycle: [
    "该处理器读取 {owner} 的存储，而其中的行取决于该处理器的结果。",
    "请将所需内容保存在处理器自己的存储中，或将结果写入主题，再作为表读回。",
  ],
  store_none: [
    "该处理器读取 {owner} 的存储，但 {owner} 不保存行。",
    "请为 {owner} 连接存储节点，或读取它之前的表。",
  ],
  store_of_stream: [
    "该处理器读取 {owner} 的存储，但 {owner} 是流，没有存储。",
    "请读取表、聚合或全局表，或插入“转为表”节点。",
  ],
  store_read_across: [
    "该处理器读取 {owner} 的存储，但它的记录经过 {owner} 之后的重新分区。",
    "请将处理器移到重新分区之前，或也对该表重新分区。",
  ],
  store_partitions: [
    "该处理器读取 {owner} 的存储，但二者之前的主题分区数不同：{topics}。任务只能看到自己分区的行。",
    "请为这些主题设置相同的分区数，或使用全局表。",
  ],
  store_kind: ["存储 {store} 的类型是“{found}”，但应为 {needed}。", "请使用该类型的存储。"],
  store_needs: ["处理器 {operator} 需要此项。", "请填写。"],
  retention: [
    "存储的保留时间是 {found}，但 {operator} 需要 {needed}。",
    "保留时间至少为窗口加宽限期，或将其留空。",
  ],
  code_syntax: ["第 {line} 行不是有效的 Python：{reason}。", "请更正代码。"],
  code_store: [
    "第 {line} 行请求存储 {store}，但它没有连接到此处理器。",
    "{guess}已连接的存储：{stores}。",
  ],
  code_class: ["代码中没有类 {found}。", "代码中的类：{classes}。"],
  setting_unknown: ["未知的设置。", "{guess}已知的设置：{known}。"],
  real_time_exactly_once: [
    "实时模式至少处理一次记录，但保证是“恰好一次”。",
    "请选择“至少一次”，或以微批运行拓扑。",
  ],
  handler_function: ["代码中没有函数。", "请编写一个以记录和错误为参数、返回 Response 的函数。"],
  handler_arguments: ["{name} 不能以记录和错误为参数调用。", "请给它两个参数。"],
  module_taken: ["{name} 是 Python、运行时或作业已有的模块的名称。", "请重命名该模块。"],
  dead_letter_topic: ["有处理程序或规则是“送往死信主题”，但没有设置死信主题。", "请填写主题。"],
  analyzer: ["无法检查表达式：{reason}", "请启动分析器。"],
  document_text: ["文档不是 JSON：{reason}。", "请提供一个 JSON 对象，编码为 UTF-8。"],
  compile_time: ["编译超过 {limit} 秒，已被停止。", "请简化最近的改动，或把拓扑拆分为多个。"],
  compile_memory: [
    "编译需要超过 {limit} MB 内存，已被停止。",
    "请缩小模式和表达式，或把拓扑拆分为多个。",
  ],
  compile_output: ["编译结果超过 {limit} MB。", "请缩小模式，或把拓扑拆分为多个。"],
  compile_waiting: ["{limit} 秒内没有可用的编译进程。", "请稍后重试。"],
  compile_busy: ["此账户已有 {limit} 个等待中的编译。", "请稍后重试。"],
  compile_process: ["编译进程意外结束。", "请重试。如果再次发生，请简化最近的改动。"],
  half_character: [
    "字符串含有不成对的代理字符。",
    "请重新输入文本；它在 😀 这样的字符中间被截断。",
  ],
  document_shape: ["这里是 {found}。", "应为 {needed}。"],
  document_format: ["文档的格式为 {found}。", "支持的格式为“{needed}”。"],
  node_id: [
    "{place} 的 ID 为 {found}。",
    "ID 以小写字母开头，后接小写字母、数字、“_”或“-”，最多 200 个字符。",
  ],
  node_part: ["这里是 {found}。", "应为 {needed}。"],
  edge_part: ["边的 {part} 为 {found}。", "它必须是字符串，即节点的 ID 或端口的名称。"],
  topic_shape: ["主题 {topic} 的设置为 {found}。", "请使用带有 partitions 的对象。"],
  role_global: [
    "输入“{port}”收到全局表，但需要 {needed}。",
    "全局表只能作为“流与全局表连接”的右侧输入。",
  ],
  role_not_global: [
    "输入“{port}”收到 {found}，但需要全局表。",
    "请用“主题全局表”读取该主题，或使用其他连接。",
  ],
  duration_too_long: ["{what}超过支持的最长时长。", "请将其缩短。"],
  pattern: [
    "不支持此模式：{reason}。",
    "请使用没有反向引用、环视和占有量词的正则表达式，例如 orders-[a-z]+ 或 (eu|us)\\..*",
  ],
  format_schema_or_registry: [
    "{format} 格式需要模式或模式注册中心。",
    "请输入模式，或注册中心和主题（subject）。",
  ],
  registry_subject: [
    "模式注册中心 {registry} 没有主题（subject）{subject}。",
    "请更正注册中心和主题（subject），或在此处也输入模式。",
  ],
  registry_version: [
    "模式注册中心 {registry} 没有 {referred} 的版本 {version}，而 {subject} 的模式引用了它。",
    "请注册它，或在此处也输入模式。",
  ],
  registry_address: ["{registry} 不是 http 或 https 地址。", "请更正地址，或在此处也输入模式。"],
  registry_redirects: [
    "模式注册中心 {registry} 重定向了请求（状态 {status}）；不会跟随重定向。",
    "请使用重定向的目标地址，或在此处也输入模式。",
  ],
  registry_credentials: [
    "模式注册中心 {registry} 拒绝了凭据（状态 {status}）。",
    "请更正 MILLRACE_REGISTRY_PASSWORDS 中的凭据，或在此处也输入模式。",
  ],
  registry_passwords: [
    "MILLRACE_REGISTRY_PASSWORDS 不是地址的 JSON 对象。",
    "请更正它；其值为 user:password。",
  ],
  registry_status: [
    "模式注册中心 {registry} 返回状态 {status}。",
    "请检查注册中心，或在此处也输入模式。",
  ],
  registry_response: [
    "模式注册中心 {registry} 的响应不是模式。",
    "请更正注册中心的地址，或在此处也输入模式。",
  ],
  registry_requests: ["该文档向模式注册中心请求的模式过多。", "请将其中一些模式写入文档。"],
  registry_size: ["该文档从模式注册中心读取的模式过大。", "请将其中一些模式写入文档。"],
  registry_slow: ["模式注册中心响应过慢。", "请重试，或将模式写入文档。"],
  registry_not_allowed: [
    "模式注册中心 {registry} 不在允许访问的注册中心之中。",
    "请把它列入 MILLRACE_SCHEMA_REGISTRIES，或在此处也输入模式。",
  ],
  registry_unreachable: [
    "模式注册中心 {registry} 没有响应：{reason}。",
    "请启动它或更正地址，或在此处也输入模式。",
  ],
  registry_unasked: [
    "{subject} 的模式在模式注册中心中，只有已保存的版本和编辑者才能访问注册中心。",
    "请向管理员申请编辑者角色，或在此处也输入模式。",
  ],
  format_registry_secret: [
    "注册中心的地址含有用户名或密码。",
    "请只输入地址；凭据请放入 MILLRACE_REGISTRY_PASSWORDS。",
  ],
  expression_character: ["SQL 中不允许使用“{found}”。", "请替换为 {plain}。"],
  expression_data_type: [
    "未知的类型“{found}”。",
    "请使用 BIGINT、STRING 或 DECIMAL(10, 2) 这样的类型。",
  ],
  expression_star: [
    "“{found}”代表多个列，但表达式只返回一个值。",
    "请写出列名，例如用 struct(…)。",
  ],
  expression_parameter: ["“{found}”是参数标记，在此没有值。", "请直接写出值；文本用单引号括起。"],
  expression_large: ["表达式过大：{reason}。", "请拆分到多个节点中。"],
  expression_slow: ["表达式过慢：{reason}。", "请简化，或拆分到多个节点中。"],
  expression_function_refused: [
    "函数 {found} 不可用：{reason}。",
    "请使用只由参数计算结果的函数。",
  ],
  expression_identifier: ["表达式不支持 IDENTIFIER(…)。", "请直接写出列名或函数名。"],
  expression_options: [
    "{function} 的选项必须是映射中的文本。",
    "请写成 map('name', 'value', …)，选项名为文本。",
  ],
  expression_option: ["{function} 的选项“{option}”不可用。", "请删除。可用选项：{known}。"],
  expression_text_as_number: [
    "文本 {found} 被当作 {type} 使用；如果它不是数字，该记录会成为处理错误。",
    "如果每个值都是数字，请写 CAST({found} AS {type})。若要其他值得到 NULL，请写 try_cast({found} AS {type})。",
  ],
  duration_unit: [
    "{found} 没有单位，因此表示毫秒：{seconds} 秒。",
    "如果指的是秒，请写“{meant}”；否则请写“{found} ms”。",
  ],
  expression_type_text: [
    "{function} 的类型不是 DDL 文本。",
    "请写成文本，例如 'a INT, b ARRAY<STRING>'。",
  ],
  expression_deep: ["表达式嵌套过深。", "请拆分到多个节点中。"],
  group_by_value: ["流只能按键分组，但设置了值。", "请删除值。"],
  group_by_needs_value: ["表按键和值分组，但没有设置值。", "请同时设置值。"],
  suppress_versioned: ["版本化的表不能抑制。", "请断开它的版本化存储。"],
  suppress_inherited: [
    "此窗口联合聚合的所有记录都来自版本化的表，例如 {table}。Kafka Streams 把它视为版本化的表，而版本化的表不能抑制。",
    "请断开 {table} 的版本化存储，或者在联合聚合之前添加“转为表”和“转为流”。",
  ],
  suppress_emit: ["最终结果不能提前输出。", "请选择停止，或将“直到”设为达到时限。"],
  topic_times: [
    "主题 {topic} 也由 {other} 读取，但时间戳、起点或读取器不同。",
    "请在两处使用相同的时间戳、无效时间戳、起点和读取器。",
  ],
  reader_missing: ["没有读取器时，此参数无效。", "请设置读取器，或删除此参数。"],
  reader_topics: ["带读取器的源只有一个主题名称。", "请在主题列表中只填一个名称。"],
  reader_start: [
    "读取器的起点由其选项设置。",
    "请删除起点，并设置该格式的选项，例如 startingVersion。",
  ],
  reader_schema: [
    "读取器的模式为 {found}，没有列。",
    "请输入列及其类型，例如 id STRING, at TIMESTAMP。",
  ],
  reader_column: ["记录没有列 {name}。", "可用的列：{known}。"],
  reader_written: [
    "此处写入主题 {topic}，但 {other} 用读取器而不是从 broker 读取其记录。",
    "请为读取器选择其他主题名称。",
  ],
  real_time_reader: [
    "实时模式只从 Kafka 读取，但此源有读取器。",
    "请以微批次运行拓扑，或读取主题。",
  ],
  topic_overlap: [
    "主题 {topic} 也由 {other} 与其他主题一起读取。",
    "请在两处使用相同的主题列表，或没有共同主题的列表。",
  ],
  topic_pattern_overlap: ["模式匹配主题 {topic}，而它由 {other} 读取。", "请缩小模式的范围。"],
  store_for_tables: [
    "连接了存储 {store}，但输入是流，没有存储。",
    "请删除该边，或在之前插入“转为表”节点。",
  ],
  store_type: ["类型为 {found}，但 {operator} 保存 {needed}。", "请留空，或使用 {needed}。"],
  store_across_levels: [
    "共用 {stores} 的处理器位于重新分区的两侧。",
    "请为每个处理器提供自己的存储，或将它们移到同一侧。",
  ],
  repartition_name_twice: [
    "重分区主题 {topic} 已存在。",
    "请为其中一个节点选择 {name} 以外的名称。",
  ],
  process_values_key: [
    "键的类型为 {found}，但“处理值”不改变键，键为 {needed}。",
    "请将键类型留空，或使用“处理”。",
  ],
  condition_topic: ["没有数据汇写入主题 {found}。", "写入的主题：{known}。"],
  condition_store: ["没有名为 {found} 的存储节点。", "有名称的存储：{known}。"],
  condition_types: [
    "写入 {found} 的记录类型不同：{first}，以及 {second}。",
    "表达式需要同一种类型：请精确比较这些记录。",
  ],
  plain_sink_timestamp: [
    "主题中记录的时间是写入时间；Kafka Streams 保留记录自己的时间。",
    "Spark 的 Kafka 数据汇不能设置时间戳。如果消费者需要它，请将它放入值中。",
  ],
  plain_updates: [
    "每个微批只发出一个键的最后结果；Kafka Streams 发出每次更新。",
    "微批越短，发出的更新越多。",
  ],
  plain_order: [
    "同一微批的记录在{what}之间没有固定的写入顺序。",
    "请在消费者中按时间戳排序，或让每个微批只处理一条记录。",
  ],
  plain_late: [
    "迟到的记录由整个查询的水位线判定，水位线在微批之间设置；Kafka Streams 将每条记录与其任务的流时间比较。",
    "宽限期越长，两者中迟到的记录都越少。",
  ],
  plain_session_final: [
    "会话只在关闭时发出一个结果；Kafka Streams 还会发出它的更新，并为每个被合并的会话发出 null。",
    "Spark 在 update 模式下没有会话窗口。",
  ],
  plain_outer_results: [
    "没有匹配的记录在两个输入的水位线都超过窗口时才发出；Kafka Streams 在流时间超过窗口时立即发出。",
    "Spark 会等待较慢的输入以及下一个微批。",
  ],
  plain_headers: [
    "结果没有消息头；Kafka Streams 保留引起该结果的记录的消息头。",
    "请在此节点之前将需要的消息头复制到值中。",
  ],
  plain_drops: [
    "{what}的记录被丢弃而不计数；Kafka Streams 会计数。",
    "如果需要数量，请用 DataFrame.observe 计数。",
  ],
  plain_aggregate_null: [
    "null 结果作为值保留；在 Kafka Streams 中它会删除聚合，下一条记录重新从初始值开始。",
    "请在表达式中使用 coalesce，使它不会返回 null。",
  ],
  plain_table_now: [
    "每个微批读取一次表，包含此时主题上的全部内容；Kafka Streams 使用处理该记录时的行。",
    "",
  ],
  plain_null_array: [
    "explode 会丢弃 null 数组；在 Kafka Streams 中这是处理错误。",
    "请在表达式中使用 coalesce。",
  ],
  plain_failed_batch: [
    "一条失败的记录会停止它的查询，该微批不写入任何内容；其他查询继续运行。Kafka Streams 在写入之前的所有结果后停止整个拓扑。",
    "",
  ],
  plain_processing_handler: [
    "失败的表达式会停止查询；Kafka Streams 在此丢弃该记录。",
    "请在表达式中使用 以 try 开头的函数。",
  ],
  plain_processor_fields: [
    "处理器的对象只存在于一个微批：init 在每个微批中运行，其他方法设置的字段和定时任务都会消失；Kafka Streams 将它们与任务一起保留。",
    "请将它们保存在存储中。",
  ],
  plain_stream_time: [
    "流时间只取决于到达此节点的记录；Kafka Streams 计入任务读取的每条记录。",
    "请将处理器放在丢弃记录的步骤之前。",
  ],
  plain_sides: [
    "两侧的变更按各自的顺序连接：两侧来自相同的记录，或其中一侧经过程序自己的主题；Kafka Streams 在每次变更发生时连接。",
    "所有变更之后的行相同；中间的结果可能不同。",
  ],
  plain_fold_order: [
    "同一微批的记录按 Spark 读取的顺序聚合，该顺序只在一个主题内固定；Kafka Streams 按时间戳的顺序处理各输入。",
    "请让聚合与顺序无关，或让每个微批只处理一条记录。",
  ],
  plain_unchanged: [
    "对不存在的行的删除会继续传递；Kafka Streams 会省略它能识别的那些，这取决于表在哪里保存行。",
    "行是相同的；消费者可能看到同一个键的结果两次。",
  ],
  plain_first_update: [
    "一个键的第一行不会从聚合中减去任何内容；Kafka Streams 会减去之前聚合的初始值。",
    "",
  ],
  plain_packages: [
    "Spark 的 transformWithState 需要 Python 包 pandas、pyarrow 和 protobuf，执行器上也需要。",
    "请安装它们：pip install 'pandas<3' pyarrow protobuf",
  ],
  plain_rejected: ["被拒绝的记录不会计数：普通 Spark 没有对应的计数器。", "结果相同。"],
  rejected_rows: ["表中被拒绝的行只能丢弃。", "请选择“丢弃”，或在其前面加上“转为流”。"],
  plain_peek: ["消息不会写入日志：普通 Spark 没有对应的算子。", "记录原样转发。"],
  plain_at_least_once: [
    "Spark 的 Kafka 数据汇至少写入一次记录，但保证是 “恰好一次”。",
    "发生故障后，结果可能会再次写入。",
  ],
  plain_kind: ["普通 Spark 没有对应的算子：{reason}。", "请使用精确方言，或{instead}。"],
  plain_processor: [
    "transformWithState 不能运行这个处理器：{reason}。",
    "请使用精确方言，或修改处理器。",
  ],
  plain_draws: [
    "在纯 Spark 中，记录被重新处理时，随机值和当前时间会不同。",
    "请使用精确方言，或从记录派生该值。",
  ],
  plain_format: [
    "格式 {format} 需要 pyspark 之外的包或模式注册中心。",
    "请使用精确方言，或其他格式。",
  ],
  plain_source: ["普通 Spark 不能读取这个数据源：{reason}。", "请使用精确方言，或{instead}。"],
  plain_handler: [
    "普通 Spark 不支持这个处理程序：{reason}。",
    "请选择 fail 或 stop，或使用精确方言。",
  ],
  plain_modules: [
    "普通 Spark 不支持处理器代码之外的模块。",
    "请将代码使用的内容移入其中，或使用精确方言。",
  ],
  plain_self_join: [
    "普通 Spark 中流与自身的连接同其他连接一样，与优化后的不同。",
    "请选择其他优化，或使用精确方言。",
  ],
  plain_column: [
    "表达式读取 {column}，但在普通 Spark 中 {kind} 的结果没有它。",
    "请在之前将它复制到值中，或使用精确方言。",
  ],
};

/** Translations of facts that are English words of the compiler; other facts are shown unchanged. */
export const words: Readonly<Record<string, string>> = {
  "the name of a topic": "主题名",
  "a duration, such as 5 minutes or a whole number of milliseconds":
    "时长，例如 5 minutes，或毫秒整数",
  "a number": "数字",
  "no value": "空值",
  "true or false": "true 或 false",
  text: "文本",
  viewer: "查看者",
  editor: "编辑者",
  operator: "操作员",
  admin: "管理员",
  keys: "各个键",
  pairs: "各个匹配对",
  "the inputs": "各个输入",
  "a global table": "全局表",
  "a null key": "键为 null ",
  "a null key or value": "键或值为 null ",
  "a null foreign key": "外键为 null ",
  "bytes that cannot be read": "字节无法读取",
  "an invalid timestamp": "时间戳无效",
  "sliding windows are supported for one input only": "滑动窗口只支持一个输入",
  "use a hopping window": "使用跳跃窗口",
  "a query that failed ends its program": "查询失败后程序即结束",
  "failed records cannot be sent to another topic": "失败的记录不能写入其他主题",
  "merging sessions support only counts, sums, minima and maxima":
    "会合并的会话只能计数、求和，或取最大值或最小值",
  "use the aggregator agg + x, the initializer 0 and the merger left + right":
    "将聚合表达式写为从 0 开始的 agg + x，合并表达式写为 left + right",
  "a query cannot send single records elsewhere, or stop at one":
    "查询不能把单条记录送往别处，也不能停在某一条上",
  "drop, count or warn": "丢弃、计数或警告",
  "a table has only its current rows": "表只有当前的行",
  "remove the grace period": "去掉宽限期",
  "tables have no versions": "表没有版本",
  "a store.key_value": "使用 store.key_value",
  "another type": "使用其他类型",
  "another key": "使用其他键",
  "a sliding window needs a difference greater than 0": "滑动窗口的时间差必须大于 0",
  "Spark's windows have one size and no time zone": "Spark 的窗口只有一个固定大小，没有时区",
  "use a size and an offset, or the exact dialect": "请使用大小和偏移，或精确方言",
  "choose a difference": "选择一个时间差",
  "programs of the plain dialect read only topics": "普通方言的程序只读取主题",
  "read a topic": "读取主题",
  "from_json reads maps with STRING keys only": "from_json 只能读取键为 STRING 的 MAP",
  "declare a MAP<STRING, …>": "声明 MAP<STRING, …>",
  "Spark does not track the highest timestamp of a partition": "Spark 不记录分区的最大时间戳",
  "choose skip": "选择 skip",
  "a json that fails stops the query": "无法读取的 JSON 会停止查询",
  "final results come from the aggregation itself": "最终结果来自聚合本身",
  "put it directly after the aggregation": "将它直接放在聚合之后",
  "the aggregation also emits every update to another node": "该聚合还向其他节点发出每次更新",
  "use an aggregation for each": "为每个节点各用一个聚合",
  "the size of updates in Kafka Streams' memory is unknown":
    "更新在 Kafka Streams 内存中的大小未知",
  "use a number of records": "使用记录数",
  "Spark's processing-time timers fire between micro-batches, and only after the first record of a partition":
    "Spark 的系统时钟定时器在微批之间触发，并且分区要先有过一条记录",
  "tasks have no id": "任务没有 ID",
  "the class needs its own module": "该类需要自己的模块",
};
