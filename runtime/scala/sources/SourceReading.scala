package org.apache.spark.sql.millrace

import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** A record of a topic. `merge`: see [[Envelope]]; `taken`: its processing time in ms, or -1. */
private[millrace] final class SourceRecord(
    val topic: String,
    val partition: Int,
    val offset: Long,
    val timestamp: Long,
    val key: Array[Byte],
    val value: Array[Byte],
    val headers: Headers,
    val merge: Long,
    val taken: Long = -1L
) {

  /** The row that takes the record to a task, by its index, and a node or mark. */
  def row(dest: Int, task: Int, options: TaskOptions): InternalRow = Envelope.row(
    new Outgoing(dest, task, key, value, timestamp, headers),
    null,
    options.salt(task),
    merge,
    utf8,
    partition,
    offset,
    Array.emptyByteArray,
    timestamp,
    taken
  )
  private lazy val utf8 = UTF8String.fromString(topic)
}

/** A source node: the records that it reads, and the tasks that take them. For the JSON, see [[SourceRows]]. */
private[millrace] final class SourceReading(j: JsonNode) {
  private val (dest, tasks, everywhere) = (j.get("dest").asInt, j.get("tasks").asInt, j.get("everywhere").asBoolean)
  private val topics = j.get("topics").elements.asScala.map(_.asText).toSet
  private val pattern = Option(j.get("pattern").textValue).map(Pattern.compile)

  /** The rows of a record, one for each task that takes it. */
  def rows(r: SourceRecord, options: TaskOptions): Seq[InternalRow] =
    if (!topics(r.topic) && !pattern.exists(_.matcher(r.topic).matches)) Nil
    else if (everywhere) (0 until options.partitions).map(r.row(dest, _, options))
    else Seq(r.row(dest, r.partition % tasks, options))
}

private[millrace] object SourceReading {
  def parse(json: String): Seq[SourceReading] =
    Json.mapper.readTree(json).elements.asScala.map(new SourceReading(_)).toSeq
}
