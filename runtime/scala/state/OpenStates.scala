package org.apache.spark.sql.millrace

import java.util.concurrent.{Executors, TimeUnit}

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.datasources.v2.state.{StatePartitionReaderBase, StateStoreInputPartition}
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, RocksDBAccess, RocksDBStateStoreProvider}
import org.apache.spark.sql.types.StructType

/**
 * States of tasks in a checkpoint, for lookups. They are found and loaded through Spark's data source for states, which
 * cannot read single rows. A loaded state is cached for the next lookup, which then loads only what has changed since.
 */
private[millrace] object OpenStates {

  /** The number of cached states, and how long they are cached without a lookup. */
  private val most = 32
  private val idleSeconds = 60L

  /** The cached states, by the query's id and folder, operator and task. */
  private val kept = mutable.LinkedHashMap[(String, String, Long, Int), Kept]()
  private final class Kept(val provider: RocksDBStateStoreProvider, val keys: StructType) { var used = 0L }

  private lazy val closing = Executors.newSingleThreadScheduledExecutor { r =>
    val t = new Thread(r, "millrace-open-states")
    t.setDaemon(true)
    t
  }

  /** Returns the result of `work` for the states of the tasks as of a batch. Tasks without rows are not among them. */
  def read[T](spark: classic.SparkSession, location: String, operator: Long, batch: Long)(
      work: Map[Int, StateHandle] => T
  ): T = synchronized {
    val open = mutable.ArrayBuffer[(ReadStateStore, Option[CheckpointHandle])]()
    try {
      val scan = OldState
        .read(spark, location, operator.toInt, batch)
        .queryExecution
        .sparkPlan
        .collectFirst { case s: BatchScanExec =>
          s.scan.toBatch
        }
        .get
      val readers = scan.createReaderFactory()
      val query = queryOf(spark, location)
      val states = scan.planInputPartitions().toSeq.flatMap { p =>
        val task = p.asInstanceOf[StateStoreInputPartition].partition
        val reader = readers.createReader(p)
        val key = (query, location, operator, task)
        val state = kept
          .remove(key)
          .getOrElse(
            new Kept(
              taken("provider", reader).asInstanceOf[RocksDBStateStoreProvider],
              taken("keySchema", reader).asInstanceOf[StructType]
            )
          )
        kept.put(key, state)
        state.used = System.nanoTime
        val store =
          try
            state.provider.getReadStore(batch + 1, taken("getStartStoreUniqueId", reader).asInstanceOf[Option[String]])
          catch { case e: Throwable => kept.remove(key); state.provider.close(); throw e }
        val handle =
          RocksDBAccess.of(state.provider, LevelProcessor.stateName, state.keys).map(new CheckpointHandle(_))
        open += ((store, handle))
        handle.map(task -> _)
      }
      work(states.toMap)
    } finally {
      open.foreach { case (store, handle) => handle.foreach(_.release()); store.release() }
      close(kept.keys.take(kept.size - most).toSeq)
      closing.schedule((() => closeIdle()): Runnable, idleSeconds + 1, TimeUnit.SECONDS)
    }
  }

  private def closeIdle(): Unit = synchronized {
    val since = System.nanoTime - TimeUnit.SECONDS.toNanos(idleSeconds)
    close(kept.collect { case (key, state) if state.used < since => key }.toSeq)
  }
  private def close(keys: Seq[(String, String, Long, Int)]): Unit =
    keys.foreach(kept.remove(_).foreach(_.provider.close()))

  /** Distinguishes a checkpoint from another that was in its folder before. */
  private def queryOf(spark: classic.SparkSession, location: String): String = {
    val path = new Path(location, "metadata")
    val in = path.getFileSystem(spark.sessionState.newHadoopConf()).open(path)
    try new String(in.readAllBytes(), "UTF-8")
    finally in.close()
  }

  private def taken(name: String, reader: AnyRef): AnyRef = {
    val m = classOf[StatePartitionReaderBase].getMethod(name)
    m.setAccessible(true)
    m.invoke(reader)
  }
}

/** A task's state in a checkpoint; read-only. */
private[millrace] final class CheckpointHandle(access: RocksDBAccess[InternalRow]) extends RocksDBHandle(access) {
  override def get(store: String, key: Array[Byte]): (Array[Byte], Long) =
    read(store, key.length, key, Bytes.next(key), 1).headOption.map(r => (r.value, r.timestamp)).orNull
  override def put(store: String, key: Array[Byte], value: Array[Byte], timestamp: Long): Unit = readOnly
  override def delete(store: String, key: Array[Byte]): Unit = readOnly
  private def readOnly = throw new UnsupportedOperationException("a checkpoint is read-only")
}
