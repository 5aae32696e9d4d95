package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The row that travels between sources, levels and sinks. A row's place is (merge, topic, partition, offset, path);
 * rows that one source record causes keep its place and append to `path`, 4 bytes big-endian per level, so that sorting
 * yields the depth-first order [PL3]. `arrived`: the time in ms at which the source record reached Kafka, or null.
 * `taken`: its processing time in ms, which is the same whenever the record is processed again; null where the tasks
 * determine it. `task` is salted: it lands in the shuffle partition of the task's number. `dest`: the index of the node
 * that receives the row, or one of the marks below.
 */
object Envelope {

  /** The task stopped with `fault`; later rows are ignored. */
  val STOP: Int = -1

  /** `value` is JSON: {"wall_clock": ms} or {"dump": true}. */
  val CONTROL: Int = -2

  /** A row of a store: out_topic is the store's name, `value` the JSON {"key", "value", "timestamp"}. */
  val DUMP: Int = -3

  /** A dead letter: raw key and value for out_topic. */
  val DEAD_LETTER: Int = -4

  /** The dead letter of the record that stops the task. Its STOP follows. */
  val LAST_LETTER: Int = -5

  val TASK = 0
  val DEST = 1
  val MERGE = 2
  val TOPIC = 3
  val PARTITION = 4
  val OFFSET = 5
  val PATH = 6
  val KEY = 7
  val VALUE = 8
  val TIMESTAMP = 9
  val HEADERS = 10
  val OUT_TOPIC = 11
  val OUT_PARTITION = 12
  val PARTITION_KEY = 13
  val FAULT = 14
  val ARRIVED = 15
  val TAKEN = 16
  private val width = 17

  val headerType: ArrayType =
    ArrayType(new StructType().add("key", StringType).add("value", BinaryType), containsNull = true)
  val schema: StructType = new StructType()
    .add("task", IntegerType)
    .add("dest", IntegerType)
    .add("merge", LongType)
    .add("topic", StringType)
    .add("partition", IntegerType)
    .add("offset", LongType)
    .add("path", BinaryType)
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("timestamp", LongType)
    .add("headers", headerType)
    .add("out_topic", StringType)
    .add("out_partition", IntegerType)
    .add("partition_key", BinaryType)
    .add("fault", StringType)
    .add("arrived", LongType)
    .add("taken", LongType)

  /** The columns by which a level's input is sorted. */
  val order: Seq[String] = Seq("task", "merge", "topic", "partition", "offset", "path")

  def headers(row: InternalRow): Headers = if (row.isNullAt(HEADERS)) Headers.empty else headers(row.getArray(HEADERS))
  def headers(a: ArrayData): Headers = {
    val n = a.numElements()
    if (n == 0) Headers.empty
    else
      Array.tabulate(n) { i =>
        val h = a.getStruct(i, 2)
        new Header(if (h.isNullAt(0)) "" else h.getUTF8String(0).toString, if (h.isNullAt(1)) null else h.getBinary(1))
      }
  }
  private val noHeaders: ArrayData = new GenericArrayData(Array.empty[Any])
  def array(hs: Headers): ArrayData =
    if (hs.length == 0) noHeaders
    else
      new GenericArrayData(hs.map(h => new GenericInternalRow(Array[Any](UTF8String.fromString(h.key), h.value)): Any))

  /** The headers for a producer; null if there are none. */
  def kafka(hs: Headers): java.util.List[org.apache.kafka.common.header.Header] =
    if (hs.length == 0) null
    else
      java.util.Arrays.asList(
        hs.map(h =>
          new org.apache.kafka.common.header.internals.RecordHeader(
            h.key,
            h.value
          ): org.apache.kafka.common.header.Header
        ): _*
      )
  def binary(row: InternalRow, i: Int): Array[Byte] = if (row.isNullAt(i)) null else row.getBinary(i)

  /** Makes a row from an emission, its topic, and the place of its origin. */
  def row(
      o: Outgoing,
      outTopic: UTF8String,
      task: Int,
      merge: Long,
      topic: UTF8String,
      partition: Int,
      offset: Long,
      path: Array[Byte],
      arrived: Long,
      taken: Long = -1L
  ): InternalRow = {
    val v = new Array[Any](width)
    v(TASK) = task
    v(DEST) = o.dest
    v(MERGE) = merge
    v(TOPIC) = topic
    v(PARTITION) = partition
    v(OFFSET) = offset
    v(PATH) = path
    v(KEY) = o.key
    v(VALUE) = o.value
    v(TIMESTAMP) = o.timestamp
    v(HEADERS) = array(o.headers)
    v(OUT_TOPIC) = outTopic
    v(OUT_PARTITION) = o.partition
    v(PARTITION_KEY) = o.partitionKey
    v(FAULT) = if (o.fault == null) null else UTF8String.fromString(o.fault)
    if (arrived >= 0) v(ARRIVED) = arrived
    if (taken >= 0) v(TAKEN) = taken
    new GenericInternalRow(v)
  }
}
