package org.apache.spark.sql.millrace

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{OpenedState, StateStoreConf, ThreadStateProvider}

/**
 * The states of all tasks of a stream thread. `run`: the thread's own id; `kept`: the versions that the checkpoint
 * keeps; `committed`: the ids of the last version, by operator and task.
 */
private[millrace] final class ThreadStates(
    session: classic.SparkSession,
    levels: Seq[(LevelProcessor, TransformWithStateExec)],
    options: TaskOptions,
    run: UUID,
    kept: Long,
    committed: Map[Long, Array[Array[String]]]
) extends ChainStates {
  private val conf = {
    val c = session.sessionState.conf.clone()
    val stores = "spark.sql.streaming.stateStore"
    c.setConfString("spark.sql.streaming.minBatchesToRetain", kept.toString)
    // The epochs between two snapshots. Each epoch lists those since the last one.
    c.setConfString(s"$stores.minDeltasForSnapshot", "100")
    // The thread waits for all commits itself, so the driver need not be told of each.
    c.setConfString(s"$stores.commitValidation.enabled", "false")
    c.setConfString(s"$stores.providerClass", classOf[ThreadStateProvider].getName)
    // Nobody reads them.
    c.setConfString(s"$stores.rocksdb.resetStatsOnLoad", "false")
    new StateStoreConf(c, Map.empty)
  }
  private val hadoop = {
    val h = session.sessionState.newHadoopConf()
    h.set(StreamExecution.RUN_ID_KEY, run.toString)
    h
  }
  private val opened: Map[(Int, Int), OpenedState] = levels.flatMap { case (level, exec) =>
    (0 until options.partitions).map(i =>
      (level.level, i) -> new OpenedState(exec, run, i, options.salt(i), conf, hadoop)
    )
  }.toMap
  private val ids = mutable.Map[(Long, Int), String]()
  committed.foreach { case (operator, of) =>
    of.zipWithIndex.foreach { case (id, task) => ids((operator, task)) = id.head }
  }

  /** Opens the states of an epoch, whose number is that of their version. */
  def begin(epoch: Long): Unit = opened.foreach { case ((_, i), s) =>
    s.begin(epoch, ids.get((s.operator, i)))
    LiveStates.begin(s.provider, epoch)
  }
  override def state(level: Int, index: Int): StateHandle =
    new MapHandle(opened((level, index)).mapState(LevelProcessor.open))

  /** For each task, what writes its changes; threads of their own may call them. */
  def commits: Seq[() => Unit] = opened.toSeq.map { case ((_, i), s) =>
    () => {
      val id = s.commit()
      ids.synchronized(ids((s.operator, i)) = id)
    }
  }

  /** The ids of the last version, by operator and task. */
  def written: Map[Long, Array[Array[String]]] = opened.values
    .map(_.operator)
    .toSet
    .map((operator: Long) => operator -> Array.tabulate(options.partitions)(i => Array(ids((operator, i)))))
    .toMap

  /** Gives up what is not written, and closes all states. */
  def close(): Unit = {
    opened.values.foreach(_.abort())
    opened.values.foreach(_.close())
    OpenedState.forget(session, run)
  }
}
