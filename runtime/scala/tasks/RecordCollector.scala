package org.apache.spark.sql.millrace

import java.util.ArrayDeque

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

/** Rows that leave the task, in order, until Spark takes them. */
private[millrace] final class RecordCollector(
    record: ProcessorRecordContext,
    level: Int,
    index: Int,
    salt: Int,
    options: TaskOptions
) {
  private val out = new ArrayDeque[InternalRow]()
  private val hops = new ArrayDeque[InternalRow]()

  /** The number of rows that the current record has sent so far. */
  private var sent = 0
  private val turns = if (options.simulation) new Turns(level, index, options.partitions) else null

  def isEmpty: Boolean = out.isEmpty
  def poll(): InternalRow = out.poll()
  def add(row: InternalRow): Unit = out.add(row)
  def clear(): Unit = { out.clear(); hops.clear(); sent = 0 }

  /** Starts another row; `another`: of another input record. */
  def begin(another: Boolean): Unit = {
    if (turns != null && another) turns.begin()
    sent = 0
  }

  def send(o: Outgoing): Unit = {
    val path =
      if (!o.hop) Turns.beside(record.path, sent)
      else if (turns != null) turns.next(record.path, o.dest, o.task, o.timestamp)
      else Turns.after(record.path, sent)
    sent += 1
    val task = if (o.task < 0) salt else options.salt(o.task)
    (if (o.hop && options.realTime) hops else out).add(
      Envelope.row(
        o,
        topicOf(o),
        task,
        record.merge,
        record.originTopic,
        record.originPartition,
        record.originOffset,
        path,
        record.arrived,
        record.taken
      )
    )
  }

  private def topicOf(o: Outgoing): UTF8String =
    if (o.topic == null) null
    else {
      if (!(o.topic eq lastName)) { lastName = o.topic; lastTopic = UTF8String.fromString(lastName) }
      lastTopic
    }

  /** The topic of the last row: most rows are for the same one as the row before. */
  private var lastName: String = _
  private var lastTopic: UTF8String = _

  /**
   * Adds the rows for other levels after all others that the record causes in its own task [PL3]. In real time nothing
   * is sorted by place.
   */
  def flushHops(): Unit = if (!hops.isEmpty) { out.addAll(hops); hops.clear() }
}
