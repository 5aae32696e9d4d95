package org.apache.spark.sql.millrace

import org.apache.spark.sql.execution.streaming.checkpointing.{CommitMetadataBase, CommitMetadataV2, OffsetSeqMetadata}

/**
 * What an epoch writes into Spark's logs beside offsets: the bytes that Spark writes, which finds fields by reflection
 * for each of them.
 */
private[millrace] object EpochLogs {

  /** The metadata of the next commit, with other ids of states. */
  def committed(before: CommitMetadataBase, ids: Map[Long, Array[Array[String]]]): CommitMetadataBase = before match {
    case v2: CommitMetadataV2 => new EpochCommit(v2.nextBatchWatermarkMs, ids)
    case other => other.withStateUniqueIds(Some(ids))
  }
}

/** The metadata of a query's offsets, of which only the time changes from one epoch to the next. */
private[millrace] final class EpochOffsets(of: OffsetSeqMetadata) {
  private val mark = Long.MaxValue
  private val Array(head, tail) = of.copy(batchTimestampMs = mark).json.split(mark.toString, 2)

  def at(timestamp: Long): OffsetSeqMetadata =
    new OffsetSeqMetadata(of.batchWatermarkMs, timestamp, of.conf) {
      override def json: String = head + timestamp + tail
    }
}

/** The metadata of a commit; ids of states are UUIDs, which JSON need not escape. */
private final class EpochCommit(watermark: Long, ids: Map[Long, Array[Array[String]]])
    extends CommitMetadataV2(watermark, Some(ids)) {
  override def json: String = {
    val text = new java.lang.StringBuilder(64 + 48 * ids.values.map(_.length).sum)
    text.append("{\"nextBatchWatermarkMs\":").append(watermark).append(",\"stateUniqueIds\":{")
    ids.foreachEntry { (operator, tasks) =>
      if (text.charAt(text.length - 1) != '{') text.append(',')
      text.append('"').append(operator).append("\":[")
      tasks.foreach { stores =>
        if (text.charAt(text.length - 1) == ']') text.append(',')
        text.append('[')
        stores.foreach { id =>
          if (text.charAt(text.length - 1) == '"') text.append(',')
          text.append('"').append(id).append('"')
        }
        text.append(']')
      }
      text.append(']')
    }
    text.append("}}").toString
  }
}
