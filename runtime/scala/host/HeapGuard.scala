package org.apache.spark.sql.millrace

import java.lang.management.{ManagementFactory, MemoryPoolMXBean, MemoryType}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardCopyOption}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

/**
 * Finds the run that fills the heap of a host: the one whose tasks have allocated the most in the last seconds. While
 * the heap is more than half full, that run is noted in a file, which outlives the JVM. When most of the old
 * generation, where all that stays ends up, is still used after a collection, the run has to leave.
 */
private[millrace] object HeapGuard {
  private val everyMs = 100L

  /** Share of the heap from which the run is noted, and of the old generation, from which it must leave. */
  private val noted = 0.5
  private val full = 0.85

  /** The old generation is collected only when it is needed; here at most this often, to learn what stays. */
  private val collectionNanos = 3000000000L
  private var collected = 0L

  /** Factor of what was allocated one look ago: after 7 s, half of it counts. */
  private val fading = 0.99

  @volatile var leaving: String = _

  private val allocated = mutable.Map[String, Double]()
  private val before = mutable.Map[Long, Long]()

  def begin(folder: Path): Unit = {
    val thread = new Thread(() => watch(folder.resolve("busiest")), "heap guard")
    thread.setDaemon(true)
    thread.setPriority(Thread.MAX_PRIORITY)
    thread.start()
  }

  private def watch(file: Path): Unit = while (true) {
    try look(file)
    catch { case NonFatal(_) => }
    Thread.sleep(everyMs)
  }

  private def look(file: Path): Unit = {
    val heap = ManagementFactory.getMemoryMXBean.getHeapMemoryUsage
    count()
    val busiest = allocated.maxByOption(_._2).map(_._1)
    if (heap.getUsed > noted * heap.getMax) busiest.foreach(note(file, _))
    val old = ManagementFactory.getMemoryPoolMXBeans.asScala
      .find(p => p.getType == MemoryType.HEAP && p.isUsageThresholdSupported && p.getCollectionUsage != null)
    leaving = if (old.exists(stays)) busiest.orNull else null
  }

  /** Whether most of a generation is used also after a collection, and still is. */
  private def stays(old: MemoryPoolMXBean): Boolean = {
    val limit = (full * old.getUsage.getMax).toLong
    if (old.getUsage.getUsed <= limit) false
    else {
      if (System.nanoTime() - collected > collectionNanos) { System.gc(); collected = System.nanoTime() }
      old.getCollectionUsage.getUsed > limit
    }
  }

  private def count(): Unit = {
    val beans = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    allocated.mapValuesInPlace((_, bytes) => bytes * fading)
    val alive = HostTasks.known()
    alive.foreach { case (thread, run) =>
      val now = beans.getThreadAllocatedBytes(thread.getId)
      val more = now - before.getOrElse(thread.getId, now)
      before(thread.getId) = now
      allocated(run) = allocated.getOrElse(run, 0.0) + Math.max(0L, more)
    }
    val ids = alive.map(_._1.getId).toSet
    before.filterInPlace((id, _) => ids.contains(id))
    allocated.filterInPlace((_, bytes) => bytes > 1e5)
  }

  private def note(file: Path, run: String): Unit = {
    val partial = file.resolveSibling("busiest.new")
    Files.write(partial, run.getBytes(UTF_8))
    Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE)
  }
}
