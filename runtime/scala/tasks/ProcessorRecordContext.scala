package org.apache.spark.sql.millrace

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** The current record, and the input record from which it was made. */
private[millrace] final class ProcessorRecordContext {

  /** The place of the current record; null and -1 in a punctuation. */
  var topic: UTF8String = _
  var partition: Int = -1
  var offset: Long = -1L

  /** The same as `topic`, if that is an internal topic of the application. */
  var internalTopic: UTF8String = _

  /** The place of the input record: see [[Envelope]]. */
  var originTopic: UTF8String = _
  var originPartition: Int = -1
  var originOffset: Long = -1L
  var merge: Long = 0L
  var path: Array[Byte] = Array.emptyByteArray

  /** When the input record reached Kafka, in ms; -1 if unknown, and in a punctuation. */
  var arrived: Long = -1L

  /** The processing time of the input record, in ms; -1 until it is known. */
  var taken: Long = -1L

  /** The number of rows that the task has taken. */
  var turn: Long = 0L

  /** Identifies the current row among all that the same node ever takes. */
  def origin: Long = {
    if (originTurn != turn) {
      originTurn = turn
      origins = Draws.place(originTopic, originPartition, originOffset, path)
    }
    origins
  }
  private var origins = 0L
  private var originTurn = 0L

  var key: Array[Byte] = _

  /** The value as it arrived, for a dead letter. For a packed row it is null, and `codec` encodes `plain` instead. */
  var bytes: Array[Byte] = _
  var codec: Codec = _
  var plain: Any = _
  var headers: Headers = Headers.empty
  var timestamp: Long = -1L

  def enter(row: InternalRow): Unit = {
    turn += 1
    merge = row.getLong(Envelope.MERGE)
    if (row.isNullAt(Envelope.TOPIC)) originTopic = null
    else { val t = row.getUTF8String(Envelope.TOPIC); if (!t.equals(originTopic)) originTopic = t.clone() }
    originPartition = row.getInt(Envelope.PARTITION)
    originOffset = row.getLong(Envelope.OFFSET)
    path = if (row.isNullAt(Envelope.PATH)) Array.emptyByteArray else row.getBinary(Envelope.PATH)
    timestamp = if (row.isNullAt(Envelope.TIMESTAMP)) -1L else row.getLong(Envelope.TIMESTAMP)
    arrived = if (row.isNullAt(Envelope.ARRIVED)) -1L else row.getLong(Envelope.ARRIVED)
    taken = if (row.isNullAt(Envelope.TAKEN)) -1L else row.getLong(Envelope.TAKEN)
    headers = Envelope.headers(row)
    key = Envelope.binary(row, Envelope.KEY)
    bytes = null
    codec = null
    plain = null
    topic = originTopic
    internalTopic = null
    partition = originPartition
    offset = originOffset
  }

  /** Clears the record: a punctuation has none. */
  def leave(): Unit = {
    topic = null
    partition = -1
    offset = -1L
    arrived = -1L
    key = null
    bytes = null
    codec = null
    plain = null
    headers = Headers.empty
  }

  /** Replaces topic, partition and offset while `body` runs. */
  def during(t: UTF8String, p: Int, o: Long)(body: => Unit): Unit = {
    val (wasTopic, wasPartition, wasOffset) = (topic, partition, offset)
    topic = t
    partition = p
    offset = o
    try body
    finally { topic = wasTopic; partition = wasPartition; offset = wasOffset }
  }

  /** The names of the internal topics that the task reads; no record of them can be found on Kafka. */
  val internalTopics = new java.util.HashSet[UTF8String]()

  /** Whether the record came through an internal topic, also if it has waited in a buffer since. */
  private def internal: Boolean = topic != null && ((topic eq internalTopic) || internalTopics.contains(topic))

  def atOrigin: Boolean = (topic eq originTopic) && partition == originPartition && offset == originOffset

  /**
   * Topic, partition and offset of the record; for one that came through an internal topic, those of the input record.
   */
  def cause: Option[(String, Int, Long)] =
    if (topic != null && !internal && offset >= 0) Some((topic.toString, partition, offset))
    else if (topic != null && originTopic != null && originOffset >= 0)
      Some((originTopic.toString, originPartition, originOffset))
    else None

  /** `cause` as the end of a message; empty if there is none. */
  def place: String = cause.fold("") { case (topic, partition, offset) => s" (offset $offset of $topic-$partition)" }

  /** The record to report for a failure, with a place that can be found on Kafka. */
  def failed: FaultRecord =
    if (internal)
      new FaultRecord(String.valueOf(originTopic), originPartition, originOffset, timestamp, key)
    else new FaultRecord(if (topic == null) null else topic.toString, partition, offset, timestamp, key)

  /** The value of a dead letter. */
  def value: Array[Byte] = if (codec == null) bytes else codec.encode(plain)

  /** Packs key and value of a dead letter for a later level, because a failure there belongs to the same record. */
  def packed: Array[Byte] = {
    val (k, v) = (if (key == null) ProcessorRecordContext.none else key, value)
    val b = ByteBuffer.allocate(5 + k.length + (if (v == null) 0 else v.length))
    b.putInt(if (key == null) -1 else k.length).put(k).put((if (v == null) 0 else 1).toByte)
    (if (v == null) b else b.put(v)).array
  }

  /** Unpacks key and value from the bytes after the first `at`. */
  def unpack(from: Array[Byte], at: Int): Unit = {
    def next(b: ByteBuffer, n: Int) = { val to = new Array[Byte](n); b.get(to); to }
    val b = ByteBuffer.wrap(from, at, from.length - at)
    val n = b.getInt
    key = if (n < 0) null else next(b, n)
    bytes = if (b.get == 0) null else next(b, b.remaining)
    codec = null
    plain = null
  }
}

private object ProcessorRecordContext { private val none = Array.emptyByteArray }
