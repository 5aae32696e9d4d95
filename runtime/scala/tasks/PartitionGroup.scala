package org.apache.spark.sql.millrace

import java.util.{HashMap => JHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** The inputs of a task by `dest`. Rows arrive in the order of their processing, so none of them waits here. */
private[millrace] final class PartitionGroup {
  private val queues = new JHashMap[Integer, RecordQueue]()

  /** By topic-partition: the last offset that was read, and the number of records since the last report. */
  private val offsets = new JHashMap[(String, Int), Array[Long]]()

  def add(dest: Int, queue: RecordQueue): Unit = queues.put(dest, queue)
  def queue(dest: Int): RecordQueue = queues.get(dest)
  def readUpTo(topic: String, partition: Int): Array[Long] =
    offsets.computeIfAbsent((topic, partition), _ => Array(-1L, 0L))

  /** Returns the number of records of a sub-topology since the last report, and whether it reads sources. */
  def report(sub: Int): (Long, Boolean) = {
    var n = 0L
    var source = false
    queues.values.forEach { q =>
      if (q.sub == sub) { n += q.taken; q.taken = 0L; if (q.isInstanceOf[SourceQueue]) source = true }
    }
    (n, source)
  }
  def reported: Map[(String, Int), ReadUpTo] = offsets.asScala.map { case (place, o) =>
    place -> ReadUpTo(o(0), o(1))
  }.toMap
  def forgetReported(): Unit = offsets.values.forEach(o => o(1) = 0L)
}

/** Processes the rows of one input. */
private[millrace] abstract class RecordQueue(val node: Node, task: StreamTask) {
  protected val record: ProcessorRecordContext = task.record
  val sub: Int = node.spec.sub

  /** True if a DataFrame sent the rows through a topic. */
  val external: Boolean = false

  /** The number of rows since the last report. */
  var taken = 0L
  lazy val streamTime: Clock = task.streamTime(sub)
  def take(row: InternalRow): Unit
}

/** Reads records of a source's topics, in the source's format. */
private[millrace] final class SourceQueue(source: SourceNode, task: StreamTask) extends RecordQueue(source, task) {

  /** The topic-partition of the last row: most rows are of the same one as the row before. */
  private var lastTopic: UTF8String = _
  private var lastPartition = -1
  private var last: Array[Long] = _
  override def take(row: InternalRow): Unit = {
    if (!(record.originTopic eq lastTopic) || record.originPartition != lastPartition) {
      lastTopic = record.originTopic
      lastPartition = record.originPartition
      last = task.inputs.readUpTo(String.valueOf(lastTopic), lastPartition)
    }
    // Another source of the task may have read the record before.
    if (record.originOffset > last(0)) { last(0) = record.originOffset; last(1) += 1 }
    record.bytes = Envelope.binary(row, Envelope.VALUE)
    source.received += 1
    val r = source.read(record.key, record.bytes, record.timestamp, record.headers, task)
    if (r != null) {
      source.received -= 1
      if (source.advancesStreamTime) streamTime.advance(r.timestamp)
      source.receive(r, 0)
    }
  }
}

/** Reads packed records of an earlier level. `edge` is null if a DataFrame made the source's records. */
private[millrace] final class InternalQueue(
    node: Node,
    input: Int,
    port: Port,
    unwrap: Boolean,
    edge: Edge,
    task: StreamTask,
    countsOffsets: Boolean,
    application: String
) extends RecordQueue(node, task) {
  private val codec = Codec.key(port.key)
  private val changes = port.isInstanceOf[TablePort] || port.isInstanceOf[GroupedPort]
  private val packer = new Packer(if (changes) Packer.changeType(port.value) else port.value)
  private lazy val valueCodec = Codec.of(port.value)
  override val external: Boolean = edge != null && edge.external
  private val carries = task.deadLetters
  private val topic = if (edge == null || !edge.hop) null else UTF8String.fromString(s"$application-${edge.topic}")
  if (topic != null) record.internalTopics.add(topic)

  /** The offset of the last record of the internal topic; counted only if an expression reads it. */
  private lazy val offset = task.clock(s"$$offset/${edge.to}/${edge.input}")
  override def take(row: InternalRow): Unit = {
    if (topic == null) from(row)
    else {
      record.topic = topic
      record.internalTopic = topic
      record.partition = task.index
      record.offset = if (countsOffsets) offset.advance(offset.value + 1) else -1L
    }
    val v = Packed.unpack(packer, Envelope.binary(row, Envelope.VALUE), port.value, changes)
    val plain = v match { case c: Change => c.newValue; case x => x }
    record.codec = valueCodec
    record.plain = plain
    streamTime.advance(record.timestamp)
    val key = codec.decode(record.key)
    if (topic == null && carries) source(row)
    node.receive(new Record(key, if (unwrap) plain else v, record.timestamp, record.headers), input)
  }

  /** Restores the record for dead letters: not the row from another level, but the record from which that was made. */
  private def source(row: InternalRow): Unit = if (!row.isNullAt(Envelope.PARTITION_KEY)) {
    val packed = row.getBinary(Envelope.PARTITION_KEY)
    if (packed.length > 8) record.unpack(packed, 8)
  }

  /** Sets where the current record comes from, if that is not where the input record came from. */
  private def from(row: InternalRow): Unit = if (!row.isNullAt(Envelope.OUT_TOPIC)) {
    val t = row.getUTF8String(Envelope.OUT_TOPIC)
    record.topic = if (t.numBytes == 0) null else t.clone()
    record.internalTopic = record.topic
    if (record.topic != null) record.internalTopics.add(record.topic)
    record.partition = row.getInt(Envelope.OUT_PARTITION)
    record.offset = Bytes.getLong(row.getBinary(Envelope.PARTITION_KEY), 0)
  }
}

/** Stores updates of a table before they are processed: see [[NodeSpec.keeps]]. They have no other effect. */
private[millrace] final class KeepingQueue(node: Node, input: Int, port: Port, task: StreamTask)
    extends RecordQueue(node, task) {
  private val codec = Codec.key(port.key)
  private val packer = new Packer(Packer.changeType(port.value))
  override def take(row: InternalRow): Unit = {
    taken -= 1
    val change = Packed.unpack(packer, Envelope.binary(row, Envelope.VALUE), port.value, changes = true)
    val r = new Record(codec.decode(record.key), change, record.timestamp, record.headers)
    node.remember(r, input)
    node.mirror(r)
  }
}
