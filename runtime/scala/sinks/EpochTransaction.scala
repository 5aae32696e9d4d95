package org.apache.spark.sql.millrace

import java.util.Collections

import scala.collection.mutable

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata
import org.apache.kafka.common.TopicPartition

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.WriterCommitMessage

/**
 * The results that all tasks of a stream thread have in one epoch, as one transaction: a thread needs one producer, and
 * an epoch one commit, however many tasks there are. The marker is that of the thread's own group, and whole: the
 * transaction has all results of the epoch.
 */
private[millrace] final class EpochTransaction(sink: SinkSettings, query: String, epoch: Long) {
  private val tx = {
    val found = KafkaSink.ofThread(query, sink.client)
    if (!found.open) found else { found.abort(); KafkaSink.ofThread(query, sink.client) }
  }
  private val writers = mutable.LinkedHashMap[Int, KafkaWriter]()

  /** Takes a result of the task with this index. */
  def write(index: Int, row: InternalRow): Unit =
    writers.getOrElseUpdate(index, new KafkaWriter(sink, query, index, epoch, tx)).write(row)

  /** Whether a record stops a task. Then this transaction must not be committed. */
  def stopped: Boolean = writers.values.exists(_.stopped)

  /** Commits, and returns what the writers have written. The offsets are sent while the results are under way. */
  def commit(): Seq[WriterCommitMessage] = {
    if (tx.open)
      try {
        val done = Marker(epoch + 1, 0L)
        val place = new TopicPartition(writers.values.map(_.topic).find(_ != null).get, 0)
        tx.producer.sendOffsetsToTransaction(
          Collections.singletonMap(place, done.offset),
          new ConsumerGroupMetadata(tx.group)
        )
        tx.producer.commitTransaction()
        tx.open = false
        tx.marker = done
      } catch { case e: Exception => KafkaSink.discard(tx.group); tx.open = false; throw e }
    writers.values.toSeq.map(_.commit())
  }

  def abort(): Unit = tx.abort()
  def close(): Unit = writers.values.foreach(_.close())
}
