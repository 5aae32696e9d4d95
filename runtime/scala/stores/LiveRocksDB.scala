package org.apache.spark.sql.execution.streaming.state

import java.util.concurrent.locks.ReentrantReadWriteLock

import org.rocksdb.{ReadOptions, RocksDB => NativeRocksDB, RocksObject, Snapshot}

/**
 * The database of a running task, for threads that look up rows while the task writes. It replaces the object through
 * which Spark uses the database, without reopening it.
 *
 * A reader sees a version as a whole: the task's [[begin]] keeps a snapshot before it writes the first change of the
 * next one. Spark closes a database without asking who reads it, which would crash the JVM, so [[close]] waits for
 * reads in progress and ends all later ones.
 */
private[sql] final class LiveRocksDB private (owner: RocksDB, before: NativeRocksDB, closed: LiveRocksDB => Unit)
    extends NativeRocksDB(before.getNativeHandle) {
  storeDefaultColumnFamilyHandle(makeDefaultColumnFamilyHandle())
  storeOptionsInstance(owner.rocksDbOptions)

  private val gate = new ReentrantReadWriteLock()
  private var open = true
  private var base = -1L
  private var views = List[LiveVersion]()

  /** Called by the task's thread when it has opened a version, before it writes. */
  def begin(version: Long): Unit = synchronized {
    base = version
    if (!views.exists(_.version == version)) keep(version)
    clean()
  }

  /** Returns a version for reading until [[leave]]; None if the database no longer has it, or not yet. */
  def enter(version: Long, id: Option[String]): Option[LiveVersion] = synchronized {
    // The version that the task has written last, until it begins the next one.
    val committed = base != version && LiveRocksDB.version(owner) == version && LiveRocksDB.id(owner) == id
    if (open && committed && !views.exists(_.version == version)) keep(version)
    val found = views.find(v => v.version == version && v.id == id)
    found.foreach(_.readers += 1)
    found
  }
  def leave(view: LiveVersion): Unit = synchronized { view.readers -= 1; clean() }

  private def keep(version: Long): Unit = views = new LiveVersion(version, LiveRocksDB.id(owner), this) :: views
  private def clean(): Unit = if (open) {
    val (gone, kept) = views.partition(v => v.version < base && v.readers == 0)
    gone.foreach(v => releaseSnapshot(v.snapshot))
    views = kept
  }

  /** Returns the result of reading a version, or None if the database was closed. `work` closes its iterators. */
  def reading[T](work: => T): Option[T] = {
    gate.readLock.lock()
    try Option.when(open)(work)
    finally gate.readLock.unlock()
  }

  /** An iterator over a column family at a version, for use within [[reading]]. */
  def iterator(view: LiveVersion, family: Short): RocksDBIterator = {
    val options = new ReadOptions().setSnapshot(view.snapshot)
    val found =
      try newIterator(options)
      finally options.close()
    new RocksDBIterator(found, true, Some(family), false, None, owner.delimiterSize)
  }

  override def close(): Unit = ending(super.close())
  override def closeE(): Unit = ending(super.closeE())
  private def ending(close: => Unit): Unit = {
    gate.writeLock.lock()
    try {
      synchronized {
        if (open) views.foreach(v => releaseSnapshot(v.snapshot))
        views = Nil
        open = false
      }
      closed(this)
      close
    } finally gate.writeLock.unlock()
  }
}

/** A version that can be read. `id`: Spark's, which tells it from another attempt at the same version. */
private[sql] final class LiveVersion private[state] (val version: Long, val id: Option[String], db: LiveRocksDB) {
  private[state] val snapshot: Snapshot = db.getSnapshot
  private[state] var readers = 0
}

private[sql] object LiveRocksDB {

  /**
   * Returns the database that a task has just opened, after the first call for it as a [[LiveRocksDB]]; None if its
   * rows have a form that cannot be read here. `closed` is called when it is closed.
   */
  def of(owner: RocksDB, closed: LiveRocksDB => Unit): Option[LiveRocksDB] = database.get(owner) match {
    case live: LiveRocksDB => Some(live)
    case null => None
    case _ if owner.conf.rowChecksumEnabled => None
    case before: NativeRocksDB =>
      val live = new LiveRocksDB(owner, before, closed)
      // From now on, the database is closed through the new object only.
      disown.invoke(before)
      database.set(owner, live)
      Some(live)
  }

  // Protected in Spark.
  private def version(owner: RocksDB): Long = loadedVersion.invoke(owner).asInstanceOf[Long]
  private def id(owner: RocksDB): Option[String] = loadedId.invoke(owner).asInstanceOf[Option[String]]
  private val loadedVersion = classOf[RocksDB].getMethod("loadedVersion")
  private val loadedId = classOf[RocksDB].getMethod("loadedStateStoreCkptId")

  private val database = {
    val f = classOf[RocksDB].getDeclaredField("db")
    f.setAccessible(true)
    f
  }
  private val disown = {
    val m = Iterator
      .iterate[Class[_]](classOf[RocksObject])(_.getSuperclass)
      .flatMap(_.getDeclaredMethods)
      .find(_.getName == "disOwnNativeHandle")
      .get
    m.setAccessible(true)
    m
  }
}
