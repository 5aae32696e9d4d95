package org.apache.spark.sql.millrace

import java.util.concurrent.{ConcurrentHashMap, Semaphore, TimeUnit}

import scala.util.control.NoStackTrace

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.streaming.MapState

/**
 * States of the tasks that run in this JVM, for lookups beside them: as of the last committed batch, from the databases
 * that the tasks use. Whoever finds none here reads the checkpoint instead ([[OpenStates]]).
 */
object LiveStates {

  /** Limits what lookups take from the tasks: how many run at a time, and how long one may take. */
  private val places = new Semaphore(2, true)
  private val waitMs = 500L
  private val mostNanos = TimeUnit.SECONDS.toNanos(1)

  /** The folders of states that can be read. */
  private val followed = ConcurrentHashMap.newKeySet[String]()
  private val states = new ConcurrentHashMap[StateStoreId, LiveState]()

  /** Ends a lookup; the checkpoint is read instead. */
  private[millrace] object Over extends RuntimeException with NoStackTrace

  /** From now on, keeps the states of a query ready for lookups (py4j). `location`: the URI of the query's folder. */
  def follow(location: String): Unit = followed.add(folder(location))
  def forget(location: String): Unit = followed.remove(folder(location))
  private def folder(location: String): String = new Path(location, "state").toString

  /** Called by a task's thread that has opened a version of its state, before it writes. */
  private[millrace] def begin(map: MapState[InternalRow, InternalRow]): Unit = if (!followed.isEmpty)
    RocksDBAccess.stateOf(map).foreach { case (provider, version) => begin(provider, version) }
  private[millrace] def begin(provider: RocksDBStateStoreProvider, version: Long): Unit =
    if (!followed.isEmpty && followed.contains(provider.stateStoreId.checkpointRootLocation)) {
      val id = provider.stateStoreId
      LiveRocksDB.of(provider.rocksDB, closed(id, _)).foreach { database =>
        database.begin(version)
        val known = states.get(id)
        if (known == null || (known.database ne database)) states.put(id, new LiveState(provider, database))
      }
    }
  private def closed(id: StateStoreId, database: LiveRocksDB): Unit =
    states.computeIfPresent(id, (_, s) => if (s.database eq database) null else s)

  /**
   * Returns the result of `work` for the states of all tasks as of a batch; None if one of them is not here, is not at
   * this batch, or if it takes too long. `ids`: Spark's ids of the states, by task.
   */
  private[millrace] def read[T](location: String, operator: Long, batch: Long, ids: IndexedSeq[String])(
      work: Map[Int, StateHandle] => T
  ): Option[T] = if (!places.tryAcquire(waitMs, TimeUnit.MILLISECONDS)) None
  else {
    val until = System.nanoTime + mostNanos
    val found = ids.indices.map(task =>
      Option(states.get(StateStoreId(folder(location), operator, task))).flatMap(_.enter(batch + 1, ids(task), until))
    )
    try
      if (found.contains(None)) None
      else
        Some(work(found.flatten.zipWithIndex.collect { case (state, task) if !state.isEmpty => task -> state }.toMap))
    catch { case Over => None }
    finally {
      found.flatten.foreach(_.leave())
      places.release()
    }
  }
}

/** The state of a running task. */
private[millrace] final class LiveState(provider: RocksDBStateStoreProvider, val database: LiveRocksDB) {
  private var handle: CheckpointHandle = _
  private var at: LiveVersion = _

  /** Returns the state at a version, for reading until a time; see [[LiveRocksDB.enter]]. */
  def enter(version: Long, id: String, until: Long): Option[LiveHandle] =
    database.enter(version, Some(id)).map(new LiveHandle(this, _, until))

  /** Returns what `work` reads at a version; None if there are no rows. */
  def using[T](view: LiveVersion, until: Long)(work: StateHandle => T): Option[T] = synchronized {
    if (System.nanoTime > until) throw LiveStates.Over
    database
      .reading {
        at = view
        if (handle == null)
          handle = RocksDBAccess
            .beside(
              provider,
              LevelProcessor.stateName,
              LevelProcessor.keySchema,
              LevelProcessor.valueSchema,
              family => database.iterator(at, family)
            )
            .map(new CheckpointHandle(_))
            .orNull
        Option(handle).map(h =>
          try work(h)
          finally h.release()
        )
      }
      .getOrElse(throw LiveStates.Over)
  }
}

/** The state of a running task at a version; read-only. */
private[millrace] final class LiveHandle(state: LiveState, view: LiveVersion, until: Long) extends StateHandle {
  private def of[T](work: StateHandle => T): Option[T] = state.using(view, until)(work)
  def isEmpty: Boolean = of(_ => ()).isEmpty
  def leave(): Unit = state.database.leave(view)
  override def get(store: String, key: Array[Byte]): (Array[Byte], Long) = of(_.get(store, key)).orNull
  override def runs: Seq[(String, Int)] = of(_.runs).getOrElse(Nil)
  override def read(store: String, length: Int, from: Array[Byte], to: Array[Byte], most: Int): Seq[StoredRow] =
    of(_.read(store, length, from, to, most)).getOrElse(Nil)
  override def put(store: String, key: Array[Byte], value: Array[Byte], timestamp: Long): Unit = readOnly
  override def delete(store: String, key: Array[Byte]): Unit = readOnly
  private def readOnly = throw new UnsupportedOperationException("the state of a running task is read-only")
}
