/** Chinese translations of help, guarantees and reasons, by the compiler's English text without citations. */

export const help: Readonly<Record<string, string>> = {
  // Kinds
  "Reads topics as a stream: each record is an independent event. Records of several topics are merged by timestamp, earliest first. Records that cannot be deserialized go to the deserialization handler.":
    "把主题读作流：每条记录都是独立的事件。多个主题的记录按时间戳合并，最早的在前。无法反序列化的记录交给反序列化处理程序。",
  "Reads a topic as a table: a record replaces the row of its key, and a null value deletes it. Records with a null key are dropped and counted.":
    "把主题读作表：记录替换其键所在的行，空值删除该行。键为空的记录被丢弃并计数。",
  "Reads a topic as a table that is fully replicated to every task, so that a stream can be joined with it by any expression and without a shuffle. It is not synchronized with stream time. Joins look up its rows, and processors read its store.":
    "把主题读作在每个任务中完整复制的表，流可以用任意表达式与它连接，无需重新分区。它不与流时间同步。连接会查找它的行，处理器可以读取它的存储。",
  "Forwards records for which the predicate is true; null counts as false. On a table, a row that no longer matches is deleted from the result.":
    "传递谓词为真的记录；空值视为假。用于表时，不再匹配的行会从结果中删除。",
  "Drops records for which the predicate is true; null counts as false, so the record is kept. On a table, a dropped row is deleted from the result.":
    "丢弃谓词为真的记录；空值视为假，因此记录保留。用于表时，被丢弃的行会从结果中删除。",
  "One record in, one record out; expressions compute the key and the value. The key counts as changed, so a later grouping or join repartitions the stream. If only the value changes, “Map values” avoids the repartition.":
    "一条记录输入，一条记录输出；键和值由表达式计算。键视为已改变，因此之后的分组或连接会重新分区。如果只有值改变，用“映射值”可避免重新分区。",
  "One record in, one record out; the key does not change, so no repartition follows. On a table, deletes are forwarded without evaluating the expression.":
    "一条记录输入，一条记录输出；键不变，因此不会重新分区。用于表时，删除会直接传递，不计算表达式。",
  "Sets the key to an expression. The key counts as changed, so a later grouping or join repartitions the stream.":
    "用表达式设置键。键视为已改变，因此之后的分组或连接会重新分区。",
  "The expression returns an array of structs with key and value; each becomes a record. An empty array produces no record, a null array is a processing error. The key counts as changed.":
    "表达式返回由键和值的结构体组成的数组，每个元素成为一条记录。空数组不产生记录，数组为 null 是处理错误。键视为已改变。",
  "The expression returns an array; each element becomes a record with the same key. An empty array produces no record, a null array is a processing error.":
    "表达式返回数组，每个元素成为一条键相同的记录。空数组不产生记录，数组为 null 是处理错误。",
  "The message is written to the deployment's log; the record is not changed.":
    "消息写入部署的日志；记录不变。",
  "Forwards all records of all inputs in the order in which they are processed. The inputs must have equal types; their partitions need not match.":
    "按处理顺序传递所有输入的全部记录。各输入的类型必须相同，分区不必一致。",
  "Branches are evaluated in order and the first match wins. Records without a match go to the default port, or are dropped if there is none.":
    "依次判断各分支，第一个匹配的生效。没有匹配的记录送往默认端口；没有默认端口时丢弃。",
  "Sends the stream through a repartition topic, so that all records of a key are in one task. Groupings and joins repartition automatically where needed; use this node to set the number of partitions. Records with a null key are dropped without being counted, unless a left or outer join of a stream follows downstream.":
    "让流经过重分区主题，使同一个键的所有记录位于一个任务中。分组和连接会在需要时自动重新分区；此节点用于设置分区数。键为空的记录被丢弃且不计数，除非后面任意位置有流的左连接或外连接。",
  "Adds one for each record of a key and forwards every new count. Grouping by an expression repartitions first. Records with a null key or value are dropped and counted; in time and session windows, null values count.":
    "键的每条记录使计数加一，并传递每个新的计数。按表达式分组时先重新分区。键或值为空的记录被丢弃并计数；在时间窗口和会话窗口中，空值计入。",
  "The first value of a key becomes the result; each further value is combined with the current result. A null result deletes the row.":
    "键的第一个值成为结果，之后的每个值与当前结果合并。结果为空则删除该行。",
  "Starts with the initializer and applies the aggregator to each value of a key. A null result deletes the row. The merger combines sessions that overlap.":
    "从初始值开始，对键的每个值应用聚合表达式。结果为空则删除该行。合并表达式用于合并重叠的会话。",
  "Each input has its own aggregator; they share initializer, store and result. The inputs must have the same key type and be co-partitioned.":
    "每个输入有自己的聚合表达式，共用初始值、存储和结果。各输入的键类型必须相同，且分区一致。",
  "A right record joins a left record with the same key if its timestamp is within [left - before, left + after], inclusive. In left and outer joins, a record without a match is forwarded when its window and grace period have passed.":
    "键相同且右侧时间戳在 [左侧 - 之前, 左侧 + 之后]（含两端）内的记录相连接。在左连接和外连接中，没有匹配的记录在窗口和宽限期过后传递。",
  "Each stream record looks up the current row of its key; table updates alone produce no result. A versioned table returns the row as of the record's timestamp; with a grace period, stream records wait for late table updates.":
    "流的每条记录查找其键的当前行；仅有表的更新不产生结果。版本化的表返回记录时间戳时的行；设置宽限期后，流的记录会等待迟到的表更新。",
  "The key expression selects the row; the stream is not repartitioned and the record keeps its key.":
    "由键表达式选择行；流不重新分区，记录的键不变。",
  "An update on either side recomputes the row of its key. The tables must be co-partitioned.":
    "任一侧的更新都会重新计算其键的行。两个表的分区必须一致。",
  "An expression over the left row returns the key of the right row. Updates on both sides update the result: a right row updates every left row that refers to it. Uses two internal topics.":
    "由左侧行的表达式得到右侧行的键。两侧的更新都会更新结果：右侧的一行会更新引用它的每个左侧行。使用两个内部主题。",
  "Each record becomes the new row of its key; a null value deletes the row. If the key was changed before, the stream is repartitioned first. Records with a null key are dropped.":
    "每条记录成为其键的新行；空值删除该行。如果之前改变过键，则先重新分区。键为空的记录被丢弃。",
  "Each change of a row becomes a record with the row's key and new value; a delete becomes a null value.":
    "行的每次改变成为一条记录，带有该行的键和新值；删除成为空值。",
  "With “Window closes”, each window emits one final result when stream time passes its end plus grace period. With “Time limit”, each key emits at most one update per interval.":
    "选择“窗口关闭”时，流时间超过窗口终点加宽限期后，每个窗口输出一个最终结果。选择“达到时限”时，每个键在每段时间内最多输出一次更新。",
  "A class with init, process and close, as in Kafka Streams' Processor API: it reads and writes stores, reads the stores of tables, aggregations and global tables that are connected to it, schedules punctuations by stream time or wall-clock time and forwards any number of records. The key counts as changed.":
    "带有 init、process 和 close 的类，与 Kafka Streams 的处理器 API 相同：读写存储，读取与它相连的表、聚合和全局表的存储，按流时间或系统时钟安排定时任务，传递任意数量的记录。键视为已改变。",
  "Like “Process”, but forwarded records keep their key, so no repartition follows.":
    "与“处理”相同，但传递的记录保持其键，因此不会重新分区。",
  "Names the state of an operator, or provides a store for processors: get, put, put_if_absent, delete, range, prefix_scan, all. Iterates in the order of the serialized keys.":
    "为算子的状态命名，或为处理器提供存储：get、put、put_if_absent、delete、range、prefix_scan、all。按序列化后的键的顺序遍历。",
  "Names the state of a windowed aggregation, or provides a store by key and time for processors. Rows older than the retention are removed.":
    "为窗口聚合的状态命名，或为处理器提供按键和时间的存储。早于保留时间的行会被删除。",
  "Names the state of an aggregation over session windows, or provides a session store for processors: put, remove, fetch, find_sessions.":
    "为会话窗口聚合的状态命名，或为处理器提供会话存储：put、remove、fetch、find_sessions。",
  "Keeps the values of each key with their timestamps, so that a join can look up the value as of a record's timestamp. Records older than the history are dropped.":
    "保存每个键的值及其时间戳，使连接能查找记录时间戳时的值。早于历史范围的记录被丢弃。",
  "Writes key, value, timestamp and headers. The default format matches the type. Records are partitioned by Kafka's default partitioner; deletes of a table are written as null values.":
    "写入键、值、时间戳和头。默认格式与类型对应。记录由 Kafka 的默认分区器分区；表的删除写为空值。",
  "Writes one line for each record, prefixed with the label.": "为每条记录写一行，以标签为前缀。",

  "A class with a process method gets each record of the topic and writes the connected store, as with Kafka Streams' addGlobalStore. Every task has the whole store, and any processor can read it: connect the store to it. The class cannot forward records or schedule punctuations, and is not synchronized with stream time.":
    "带有 process 方法的类得到主题的每条记录，并写入相连的存储，与 Kafka Streams 的 addGlobalStore 相同。每个任务都有整个存储，任何处理器都能读取它：将该存储与处理器相连即可。该类不能传递记录或安排定时任务，也不与流时间同步。",
  "All records in every task; not synchronized with stream time.":
    "每个任务都有全部记录；不与流时间同步。",
  "A broadcast in Spark is read once; a global store follows its topic.":
    "Spark 的广播只读取一次；全局存储会跟随其主题。",

  // Parameters
  "Names of further input ports, whose records may have other types: for each, the class has a method of that name, which gets them in place of process.":
    "其他输入端口的名称，其记录可以是其他类型：该类为每个端口有一个同名方法，代替 process 得到这些记录。",
  "Values that the class is created with, by name, as JSON.":
    "创建该类时使用的值，按名称，以 JSON 表示。",
  "The topics to read.": "要读取的主题。",
  "A regular expression instead of a list; reads all topics whose full name matches.":
    "用正则表达式代替列表；读取全名匹配的所有主题。",
  "Serialization format of the key.": "键的序列化格式。",
  "Serialization format of the value.": "值的序列化格式。",
  "Expression for the record's timestamp: TIMESTAMP, or BIGINT in milliseconds. Default: the timestamp of the Kafka record.":
    "记录时间戳的表达式：TIMESTAMP，或以毫秒为单位的 BIGINT。默认：Kafka 记录的时间戳。",
  "What happens to a record that is not kept. Drop: nothing else; drop and count: it counts as dropped; count: it is counted and forwarded; warn: also logged as a warning, and the alert condition for rejected records applies; dead letter: it is dropped, and its source record is written to the dead letter topic; stop: the job stops at it. Rows of tables are always dropped.":
    "不被保留的记录会怎样。丢弃：不做别的；丢弃并计数：计入丢弃的记录；计数：计数后仍转发；警告：同时写入一条警告，并适用于告警条件“被拒绝并警告的记录”；送往死信主题：丢弃它，并把其来源记录写入死信主题；停止：作业停在该记录处。表的行总是丢弃。",
  "What to do with a null or negative timestamp: fail, drop and count the record, or use the partition's highest timestamp so far.":
    "时间戳为空或为负时：停止、丢弃并计数，或采用该分区目前最大的时间戳。",
  "Where to start reading a topic that has no committed offsets.":
    "没有已提交偏移量的主题从何处开始读取。",
  "A format that Spark reads as a stream, such as parquet, in place of the broker's topic. The name of the topic then only labels the records.":
    "用 Spark 能以流方式读取的格式（如 parquet）代替 broker 的主题。此时唯一的主题只用于命名记录。",
  "Options of the reader, such as path and maxFilesPerTrigger.":
    "读取器的选项，如 path 和 maxFilesPerTrigger。",
  "The reader's columns with their types. Default: the schema that the format provides.":
    "读取器的列及其类型。默认：由格式本身得知。",
  "Expressions over the reader's columns for key, value, timestamp and, if needed, headers, topic, partition and offset. Default: the columns of these names.":
    "由读取器的列得到键、值、时间戳（以及需要时的头、主题、分区和偏移量）的表达式。默认：同名的列。",
  "The topic to read.": "要读取的主题。",
  "A record is kept if this is true; null counts as false.": "为真时保留记录；空值视为假。",
  "A record is dropped if this is true; null counts as false.": "为真时丢弃记录；空值视为假。",
  "The new key.": "新的键。",
  "The new value.": "新的值。",
  "An array of structs: ARRAY<STRUCT<key, value>>.": "结构体数组：ARRAY<STRUCT<key, value>>。",
  "An array: one record for each element.": "数组：每个元素一条记录。",
  "The message, a string expression.": "消息，字符串表达式。",
  "Port and predicate of each branch, evaluated in order.": "每个分支的端口和谓词，依次判断。",
  "Port for records that match no branch. If empty, they are dropped.":
    "不匹配任何分支的记录的端口。留空则丢弃。",
  "Number of partitions. Default: the largest number of partitions among the sources before it.":
    "分区数。默认：之前各数据源的最大分区数。",
  "Name of the topic without “-repartition”. Default: the node's id.":
    "主题名称，不含“-repartition”。默认：节点的标识。",
  "What records are grouped by. For a stream, the new key (default: the record's key). For a table, key and value; both are required.":
    "记录的分组依据。流：新的键（默认：记录的键）。表：键和值，两者都必填。",
  "Groups a stream by time as well: tumbling, hopping, sliding, session, unlimited or custom windows. Tumbling windows have a size, or are days, weeks, months, quarters or years of a time zone. Custom windows are those that a Python function returns for a timestamp. Without a window there is one result per key.":
    "流还可按时间分组：滚动、跳跃、滑动、会话、无限或自定义窗口。没有窗口时每个键一个结果。",
  "Name of the repartition topic without “-repartition”, as with Grouped.as. Default: the node's id.":
    "重新分区主题的名称，不含“-repartition”，同 Grouped.as。默认：节点的标识。",
  "Name of the repartition topic without “-repartition”, as with Joined.as. Default: the node's id.":
    "重新分区主题的名称，不含“-repartition”，同 Joined.as。默认：节点的标识。",
  "Name of the repartition topics without “-left-repartition” and “-right-repartition”, as with StreamJoined.withName. Default: the node's id.":
    "重新分区主题的名称，不含“-left-repartition”和“-right-repartition”，同 StreamJoined.withName。默认：节点的标识。",
  "Name of the stores without “-this-join-store” and so on, as with StreamJoined.withStoreName. Default: the node's id.":
    "存储的名称，不含“-this-join-store”等后缀，同 StreamJoined.withStoreName。默认：节点的标识。",
  "Name of the internal topics without “-subscription-registration-topic” and “-subscription-response-topic”, as with TableJoined.as. Default: the node's id.":
    "内部主题的名称，不含“-subscription-registration-topic”和“-subscription-response-topic”，同 TableJoined.as。默认：节点的标识。",
  "As Kafka Streams' topology.optimization: merge repartition topics behind a changed key, use topics of tables as changelogs, and join a stream with itself in one store. All of them, or one.":
    "即 Kafka Streams 的 topology.optimization：合并改变键之后的重新分区主题、以表的主题作为变更日志、流与自身的连接只用一个存储。全部，或其中之一。",
  "For processors: rows have a timestamp and headers beside the value, as ValueTimestampHeaders.":
    "用于处理器：每行除值外还有时间戳和消息头，即 ValueTimestampHeaders。",
  "Names of repartition topics and of stores without a name: the ids of nodes, or those that Kafka Streams gives them.":
    "重新分区主题和未命名存储的名称：节点的标识，或 Kafka Streams 所给的名称。",
  "Emit every update, or one final result when the window closes.":
    "输出每次更新，或在窗口关闭时输出一个最终结果。",
  "Combines `agg`, the current result, and `value`.": "合并当前结果 `agg` 与 `value`。",
  "For a table: removes the old `value` of a changed row from `agg`.":
    "用于表：从 `agg` 中减去已改变的行的旧 `value`。",
  "Spark SQL type of the aggregate.": "聚合值的 Spark SQL 类型。",
  "The initial aggregate.": "聚合的初始值。",
  "The new aggregate, an expression over `agg`, `key`, `value` and `timestamp`.":
    "新的聚合值，由 `agg`、`key`、`value` 和 `timestamp` 组成的表达式。",
  "For session windows: combines the aggregates `left` and `right`.":
    "用于会话窗口：合并聚合值 `left` 和 `right`。",
  "Port, aggregator and optional grouping of each input.":
    "每个输入的端口、聚合表达式和可选的分组。",
  "A cogroup emits every update.": "联合聚合输出每次更新。",
  "inner: only pairs; left: every left record, with null where nothing matches; outer: both.":
    "内连接：只有配对；左连接：每条左侧记录，无匹配时为空；外连接：两侧都有。",
  "How much earlier than the left record the right record may be.":
    "右侧记录最多可比左侧记录早多少。",
  "How much later than the left record the right record may be.":
    "右侧记录最多可比左侧记录晚多少。",
  "How long to accept late records after the window ends.": "窗口结束后还接收迟到记录多久。",
  "The result, an expression over `key`, `left` and `right` (the two values) and `timestamp`.":
    "结果，由 `key`、`left` 和 `right`（两个值）以及 `timestamp` 组成的表达式。",
  "How long stream records wait for late table updates. Requires a versioned table.":
    "流的记录等待迟到的表更新多久。需要版本化的表。",
  "The key of the table row, an expression over the stream record.":
    "表中行的键，由流的记录得到的表达式。",
  "The key of the right row, an expression over the left `key` and `value`.":
    "右侧行的键，由左侧 `key` 和 `value` 得到的表达式。",
  "When to emit.": "何时输出。",
  "How long the first update of a key is buffered, in stream time.":
    "键的第一次更新缓冲多久，以流时间计。",
  "Maximum number of buffered keys. Default: unlimited.": "缓冲的键的最大数量。默认：不限。",
  "Maximum size of the buffer in bytes. Default: unlimited.": "缓冲的最大字节数。默认：不限。",
  "What to do when the buffer is full: emit the oldest record early, or fail. Default: emit with “Time limit”, fail with “Window closes”.":
    "缓冲已满时：提前输出最早的记录，或停止。默认：选择“达到时限”时提前输出，选择“窗口关闭”时停止。",
  "Python source of the class. Processor and Record need no import.":
    "类的 Python 源代码。Processor 和 Record 无需导入。",
  "Name of the class in the code.": "代码中类的名称。",
  "Spark SQL types of the forwarded key and value. Default: the input's types.":
    "所传递的键和值的 Spark SQL 类型。默认：输入的类型。",
  "Names of the output ports.": "输出端口的名称。",
  "Name of the store in code and queries; unique in the topology.":
    "存储在代码和查询中的名称，在拓扑中唯一。",
  "Spark SQL type of the keys. Required for processors; inferred for other operators.":
    "键的 Spark SQL 类型。处理器必填，其他算子自动推断。",
  "Spark SQL type of the values. Required for processors; inferred for other operators.":
    "值的 Spark SQL 类型。处理器必填，其他算子自动推断。",
  "Kafka Streams keeps the store on disk. In Spark, all stores are kept on disk.":
    "Kafka Streams 把存储放在磁盘上。在 Spark 中，所有存储都在磁盘上。",
  "Whether Kafka Streams keeps a changelog topic; shown in the plan.":
    "Kafka Streams 是否保留变更日志主题；显示在计划中。",
  "Settings of the changelog topic.": "变更日志主题的设置。",
  "Record caching in Kafka Streams. Millrace forwards every update.":
    "Kafka Streams 的记录缓存。Millrace 传递每次更新。",
  "How long rows are kept, in stream time; at least window size plus grace period, which is the default.":
    "行保留多久，以流时间计；至少为窗口大小加宽限期，这也是默认值。",
  "Size of the windows. Required for processors.": "窗口的大小。处理器必填。",
  "Keep several values for the same key and window start.": "同一个键和窗口起点保留多个值。",
  "How long sessions are kept, in stream time; at least gap plus grace period, which is the default.":
    "会话保留多久，以流时间计；至少为间隔加宽限期，这也是默认值。",
  "How far back values can be looked up and updated.": "可以查找和更新多久以前的值。",
  "The topic to write.": "要写入的主题。",
  "Expression for the topic of each record, instead of a fixed topic.":
    "用表达式得到每条记录的主题，代替固定的主题。",
  "Default: the format that matches the type.": "默认：与类型对应的格式。",
  "Expression for the partition. Default: Kafka's default partitioner.":
    "分区的表达式。默认：Kafka 的默认分区器。",
  "Prefix of each line. Default: the node's id.": "每行的前缀。默认：节点的标识。",
  "At least once: after a failure, results may be written again. Exactly once: results and progress are written in one transaction.":
    "至少一次：故障后结果可能重复写入。恰好一次：结果与进度在同一事务中写入。",
  "Fail, drop and count, write to the dead letter topic and then continue or fail, or ask a Python function. Under exactly once, a dead letter before a failure is aborted with its transaction, as in Kafka Streams.":
    "停止、丢弃并计数、写入死信主题后继续或停止，或询问 Python 函数。在恰好一次语义下，停止前的死信会随其事务一起中止，与 Kafka Streams 相同。",
  "For results that cannot be sent: too large, no such partition, no valid topic or not writable in the format. Fail, drop and count, or ask a Python function.":
    "针对无法发送的结果：过大、没有该分区、主题无效或无法以该格式写出。停止、丢弃并计数，或询问 Python 函数。",
  "Python source. Its last function gets the failed record and the error, and returns Response.resume() or Response.fail(), with the dead letters to write.":
    "Python 源代码。其最后一个函数接收失败的记录和错误，并返回 Response.resume() 或 Response.fail()，以及要写入的死信。",
  "Python modules that the code of processors and handlers can import, with their source.":
    "处理器和处理程序的代码可以导入的 Python 模块及其源代码。",
  "When a record fails and its handler says fail: stop, or replace the threads, which process the record again. The eighth failure within ten minutes stops the job.":
    "记录失败且其处理程序为停止时：停止作业，或替换线程并重新处理该记录。十分钟内第八次失败会停止作业。",
  "Receives the source record's original bytes, with headers that describe the error.":
    "接收源记录的原始字节，并用头说明错误。",

  // Guarantees
  "Offset order within a partition; across partitions, smallest timestamp first.":
    "分区内按偏移量顺序；分区之间时间戳最小的在前。",
  "All rows in every task; not synchronized with stream time.":
    "每个任务都有全部行；不与流时间同步。",
  "The class gets one record at a time, in order; stores and punctuations are exact.":
    "类依次逐条得到记录；存储和定时任务是精确的。",
  "Every update of every key, in order; values are combined in record order.":
    "每个键的每次更新，依次输出；值按记录的顺序合并。",
  "One aggregate, updated by all inputs in record order.": "一个聚合值，由所有输入按记录顺序更新。",
  "Updates of both sides update the result; outdated responses are dropped.":
    "两侧的更新都会更新结果；过时的响应被丢弃。",
  "The row at processing time, or as of the record's timestamp if versioned.":
    "处理时的行；若为版本化的表，则为记录时间戳时的行。",
  "Every update of either side recomputes the row, including deletes.":
    "任一侧的每次更新（包括删除）都会重新计算该行。",
  "The row at processing time, without a repartition.": "处理时的行，不重新分区。",
  "All pairs within the window, inclusive, and late ones within the grace period.":
    "窗口内（含两端）的所有配对，以及宽限期内迟到的配对。",
  "Keeps the order of records.": "保持记录的顺序。",
  "One result for each record, in order, with its key, timestamp and headers.":
    "每条记录一个结果，依次输出，键、时间戳和头不变。",
  "One final result per window, or the latest update per time limit, by stream time.":
    "按流时间，每个窗口一个最终结果，或每个时限一次最新更新。",
  "One line for each record, in order; after a crash, lines may be repeated.":
    "每条记录一行，依次写入；崩溃后行可能重复。",
  "Records keep their order, timestamps and headers and go to the partition that Kafka Streams would choose; at least once, or exactly once if set.":
    "记录保持顺序、时间戳和头，写入 Kafka Streams 会选择的分区；至少一次，或按设置恰好一次。",
  "The results of a record stay together, in the order of the array.":
    "一条记录的结果保持在一起，按数组的顺序。",
  "One result for each record, in order, with its timestamp and headers.":
    "每条记录一个结果，依次输出，时间戳和头不变。",
  "Each record goes to one branch and is processed there before the next record.":
    "每条记录进入一个分支，处理完后才轮到下一条记录。",
  "Every update in offset order, with the previous row.": "按偏移量顺序的每次更新，带有之前的行。",
  "Records of all inputs, in the order in which they are processed.":
    "所有输入的记录，按处理的顺序。",
  "All records of a key go to the same task, in order.": "同一个键的所有记录依次进入同一个任务。",
  "Every update of every key, in order, with the highest timestamp of its records.":
    "每个键的每次更新，依次输出，带有其记录的最大时间戳。",
  "Every update in order, with the previous row.": "依次输出每次更新，带有之前的行。",
  "Every update as a record, in order; deletes have null values.":
    "每次更新成为一条记录，依次输出；删除的值为空。",
  "The rows as of the last micro-batch, in the order of the serialized keys.":
    "截至上一个微批次的行，按序列化后的键的顺序。",
  "The rows as of the last micro-batch, within the retention.":
    "截至上一个微批次的行，在保留时间内。",
  "The sessions as of the last micro-batch, within the retention.":
    "截至上一个微批次的会话，在保留时间内。",
  "The versions within the history retention, looked up by timestamp.":
    "历史范围内的版本，按时间戳查找。",

  // Why it runs this way
  "Spark reads partitions in parallel, without an order between them; the stream task restores the order of Kafka Streams.":
    "Spark 并行读取各分区，彼此没有顺序；流任务恢复 Kafka Streams 的顺序。",
  "A broadcast in Spark is read once; a global table follows its topic.":
    "Spark 的广播只读取一次；全局表跟随其主题。",
  "Spark's Python state API gets the rows of a key in a batch, without order or stream time.":
    "Spark 的 Python 状态 API 按批次得到一个键的行，没有顺序，也没有流时间。",
  "Spark aggregates in no fixed order and returns one row per key and micro-batch.":
    "Spark 的聚合没有固定顺序，每个键在每个微批次中返回一行。",
  "Spark's cogroup gets the whole micro-batch of each side, without their common order.":
    "Spark 的 cogroup 得到每一侧的整个微批次，没有共同的顺序。",
  "Spark has no foreign-key join of changing tables.": "Spark 没有变化的表之间的外键连接。",
  "Spark joins a whole micro-batch with one state of the table.":
    "Spark 把整个微批次与表的同一个状态相连接。",
  "Spark cannot join two changing tables without windows.":
    "Spark 不能在没有窗口时连接两个变化的表。",
  "Spark's stream–stream joins emit outer rows and drop late rows by a watermark that is set between micro-batches.":
    "Spark 的流与流连接按微批次之间设置的水位线输出外连接的行，并丢弃迟到的行。",
  "The stream task processes records one by one, depth first, so order, timestamps and errors are those of each record. DataFrame operations do not keep them.":
    "流任务逐条、深度优先地处理记录，因此顺序、时间戳和错误都属于各条记录。DataFrame 操作不保留它们。",
  "Spark's append mode emits final rows by a watermark that is set once per micro-batch.":
    "Spark 的追加模式按每个微批次设置一次的水位线输出最终的行。",
  "Spark's console sink prints a micro-batch as a table, and only its first rows.":
    "Spark 的控制台输出把微批次打印为表，且只有前几行。",
  "Spark's Kafka sink writes no timestamps and has no transactions.":
    "Spark 的 Kafka 输出不写时间戳，也没有事务。",
  "With a filter for each branch, Spark would read the input once for each of them.":
    "若每个分支一个过滤，Spark 会为每个分支读取一次输入。",
  "Spark has no table that changes within a micro-batch; a stream–static join uses one state of the table for the whole batch.":
    "Spark 没有在微批次内变化的表；流与静态表的连接在整个批次中使用表的同一个状态。",
  "Spark may evaluate a DataFrame operation more than once; the stream task does not.":
    "Spark 可能多次计算一个 DataFrame 操作；流任务不会。",
  "Spark's union reads one input after the other; the stream task keeps record order.":
    "Spark 的 union 逐个读取输入；流任务保持记录的顺序。",
  "Spark's repartition does not keep the order, and its hash differs from Kafka's.":
    "Spark 的 repartition 不保持顺序，其哈希也与 Kafka 不同。",
  "Spark's groupBy().count() returns one row per key and micro-batch: updates in between and their timestamps are lost.":
    "Spark 的 groupBy().count() 每个键在每个微批次中返回一行：其间的更新及其时间戳都会丢失。",
  "Spark has no table that changes within a micro-batch.": "Spark 没有在微批次内变化的表。",
  "Spark's state stores are bound to the query plan and cannot be scanned in key order. These are stored under the store's name, so they survive changes of the topology.":
    "Spark 的状态存储绑定于查询计划，不能按键的顺序扫描。这里以存储的名称保存，因此拓扑改变后仍然存在。",
};
