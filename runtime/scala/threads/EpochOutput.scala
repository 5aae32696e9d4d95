package org.apache.spark.sql.millrace

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.{DataWriter, WriterCommitMessage}
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}

/**
 * Writes the results of a stream thread, an epoch at a time. Under exactly once, those of all tasks are one
 * transaction, unless a record stops a task: then each task has one of its own, with what precedes the record and how
 * much that is, as in a micro-batch.
 */
private[millrace] final class EpochOutput(
    sink: StreamingWrite,
    factory: StreamingDataWriterFactory,
    options: TaskOptions
) {
  private val writers = mutable.Map[Int, DataWriter[InternalRow]]()
  private val messages = mutable.ArrayBuffer[WriterCommitMessage]()
  private var transaction: Option[EpochTransaction] = None

  /** Whether a record stops a task of the epoch. */
  var stopped = false

  /** Prepares for the first epoch. */
  def open(): Unit = sink match {
    case kafka: KafkaStreamingWrite => kafka.openThread()
    case _ => ()
  }

  /** Takes results of the epoch: all that it has, if it has a transaction. */
  def write(epoch: Long, rows: Array[InternalRow]): Unit = {
    stopped = rows.exists(_.getInt(Envelope.DEST) == Envelope.STOP)
    transaction = sink match {
      case kafka: KafkaStreamingWrite if !stopped => kafka.transaction(epoch)
      case _ => None
    }
    transaction.foreach(t => rows.foreach(r => t.write(indexOf(r), r)))
    if (transaction.exists(_.stopped)) {
      transaction.foreach(_.abort())
      transaction = None
    }
    if (transaction.isEmpty) rows.foreach { r =>
      writers.getOrElseUpdate(indexOf(r), factory.createWriter(indexOf(r), epoch, epoch)).write(r)
    }
  }
  private def indexOf(r: InternalRow): Int = options.indexOf(r.getInt(Envelope.TASK))

  /** What commits the results; threads of their own may call them. */
  def commits: Seq[() => Unit] = {
    def keep(made: Seq[WriterCommitMessage]): Unit = messages.synchronized { messages ++= made; () }
    transaction.toSeq.map(t => () => keep(t.commit())) ++ writers.values.toSeq.map(w => () => keep(Seq(w.commit())))
  }

  /** Ends the epoch after all commits. Throws StreamStopped if a record stops a task. */
  def end(epoch: Long): Unit = {
    transaction.foreach(_.close())
    transaction = None
    writers.values.foreach(_.close())
    writers.clear()
    val all = messages.toArray
    messages.clear()
    sink.commit(epoch, all)
  }

  /** Gives up what is not committed. */
  def close(): Unit = {
    transaction.foreach { t => t.abort(); t.close() }
    writers.values.foreach { w =>
      try { w.abort(); w.close() }
      catch { case _: Exception => () }
    }
  }
}
