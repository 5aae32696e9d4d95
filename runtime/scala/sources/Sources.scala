package org.apache.spark.sql.millrace

import org.apache.spark.sql.types._

/** A node that reads the rows of a topic: decodes the raw bytes and determines the timestamp. */
abstract class SourceSpec(b: Build) extends NodeSpec(b) {
  val keyCodec: Codec = b.codec("key")
  val valueCodec: Codec = b.codec("value")
  val key: KeyType = KeyType(keyCodec.dataType)
  private val layout = Layout.record(key, valueCodec.dataType)

  /** The timestamp expression and the number of its units in a ms (1000 for TIMESTAMP). */
  val time: Option[(Expr, Long)] = b.textOpt("timestamp").map { _ =>
    val e = b.expr("timestamp", layout)
    e.dataType match {
      case TimestampType => (e, 1000L)
      case LongType => (e, 1L)
      case IntegerType => (b.expr("timestamp", layout, Some(LongType)), 1L)
      case other => b.fail("timestamp", "type", s"gives ${other.sql}, needs TIMESTAMP or BIGINT (ms)")
    }
  }
  val invalid: String = b.textOpt("invalid_timestamp").getOrElse("fail")

  /** Kafka Streams' global task skips bytes that it cannot read, regardless of the settings [EH1]. */
  val skipsBadBytes: Boolean = false

  /** Whether records advance the stream time of the task. Those of Kafka Streams' global task do not. */
  val advancesStreamTime: Boolean = true
}

/** A source in a task. Subclasses implement `process` for decoded records. */
abstract class SourceNode(spec: SourceSpec) extends Node(spec) {
  private val keepsTime = spec.invalid == "partition_time"
  private[millrace] final val advancesStreamTime = spec.advancesStreamTime

  /** Reads one row of the topic. Returns the record, or null if it was dropped. */
  private[millrace] final def read(
      keyBytes: Array[Byte],
      valueBytes: Array[Byte],
      timestamp: Long,
      headers: Headers,
      task: SourceAccess
  ): Record = {
    var part = "key"
    val r =
      try {
        val key = spec.keyCodec.decode(keyBytes)
        part = "value"
        new Record(key, spec.valueCodec.decode(valueBytes), timestamp, headers)
      } catch {
        case e: BadBytes =>
          task.unreadable(this, new ParameterFailure(part, e), spec.skipsBadBytes)
          return null
        case e: RegistryFailure =>
          task.unreadable(this, new ParameterFailure(part, e), goOn = false)
          return null
      }
    val time = extracted(r, task)
    if (time >= 0) {
      if (keepsTime) task.partitionTime(spec.sub).advance(time)
      if (time == timestamp) r else r.withTimestamp(time)
    } else if (spec.invalid == "skip") { dropped("skipped_timestamp"); null }
    else if (keepsTime && task.partitionTime(spec.sub).value >= 0) r.withTimestamp(task.partitionTime(spec.sub).value)
    else
      task.stop(
        this,
        "timestamp",
        new Misfit(
          if (time == SourceNode.nothing) Why("timestamp_null", "the timestamp is null")
          else Why("timestamp_negative", s"the timestamp $time is negative", "time" -> time)
        )
      )
  }

  private def extracted(r: Record, task: SourceAccess): Long = spec.time match {
    case None => r.timestamp
    case Some((e, unit)) =>
      val v =
        try e(r, context)
        catch { case x: Exception => task.stop(this, "timestamp", x) }
      if (v == null) SourceNode.nothing else Math.floorDiv(v.asInstanceOf[Long], unit)
  }
}

private object SourceNode { val nothing = Long.MinValue }

/** The methods of a task that its sources call. */
private[millrace] trait SourceAccess {

  /** The highest timestamp of the current topic-partition, by sub-topology. */
  def partitionTime(sub: Int): Clock
  def unreadable(node: Node, e: Exception, goOn: Boolean): Unit

  /** Ends the task's micro-batch. */
  def stop(node: Node, kind: String, e: Exception): Nothing
}
