package org.apache.spark.sql.millrace

import java.util.concurrent.{ConcurrentHashMap, ThreadLocalRandom}
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/**
 * Counts how often keys pass a watched edge, and how many records each task had. All records are counted; of their
 * keys, a task samples one in n, where n follows from the number of records in the previous turn, and a sampled key
 * counts n times. A fixed number of keys is counted at once: a new key replaces the rarest one and takes over its count
 * (Metwally et al., Space-Saving), so frequent keys stay.
 */
private[millrace] final class HotKeys {
  private val since = System.currentTimeMillis()
  private val counts = mutable.HashMap[String, Long]()

  /** Each key with a count that it once had, the lowest first. */
  private val rarest = mutable.PriorityQueue.empty[(Long, String)](Ordering.by[(Long, String), Long](_._1).reverse)
  private var sampled = 0L
  private val tasks = new ConcurrentHashMap[String, Of]()

  /** One task's records. Called from its thread; other threads read `counted`. */
  final class Of {
    private val shown = new AtomicLong()
    private var count = 0L
    private var every = 1L
    private var gap = 1L
    private var read = 0L
    private var before = 0L

    /** Starts another turn. */
    def next(): Unit = {
      every = math.max(1L, (count - before) / HotKeys.perTurn)
      before = count
      read = 0L
    }

    /** Counts a record. Returns whether its key is sampled. */
    def chooses(): Boolean = {
      count += 1
      shown.lazySet(count)
      gap -= 1
      gap <= 0
    }

    /** Adds the key of a sampled record. */
    def add(key: String): Unit = {
      read += 1
      // A turn with many more records than the one before it, such as a large batch, reads fewer of them.
      if (read % HotKeys.perTurn == 0) every *= 2
      // If keys alternate, equal gaps would always sample the same one.
      gap = if (every == 1L) 1L else ThreadLocalRandom.current.nextLong(1L, 2 * every)
      HotKeys.this.add(key, every)
    }

    def counted: Long = shown.get
  }

  def of(task: String): Of = tasks.computeIfAbsent(task, _ => new Of)

  private def add(text: String, records: Long): Unit = synchronized {
    val key = if (text.length <= HotKeys.longest) text else text.substring(0, HotKeys.longest) + "…"
    sampled += 1
    val known = counts.getOrElse(key, 0L)
    if (known > 0) counts(key) = known + records
    else {
      val count = if (counts.size < HotKeys.most) 0L else removeRarest()
      counts(key) = count + records
      rarest.enqueue((count + records, key))
    }
  }

  /** Removes the key with the lowest count, and returns the count. */
  private def removeRarest(): Long = {
    var (count, key) = rarest.dequeue()
    while (counts(key) > count) {
      rarest.enqueue((counts(key), key))
      val next = rarest.dequeue()
      count = next._1
      key = next._2
    }
    counts.remove(key)
    count
  }

  /** {"since" (epoch ms), "records", "sampled", "top": [[key as JSON text, records]], "tasks": [[task, records]]} */
  def json: String = synchronized {
    val o = Json.mapper.createObjectNode()
    o.put("since", since)
    val own = tasks.asScala.toSeq.map { case (task, of) => task -> of.counted }.sortBy(_._1)
    o.put("records", own.map(_._2).sum)
    o.put("sampled", sampled)
    val top = o.putArray("top")
    counts.toSeq.sortBy { case (key, n) => (-n, key) }.take(HotKeys.shown).foreach { case (key, n) =>
      top.addArray().add(key).add(n)
    }
    val each = o.putArray("tasks")
    own.foreach { case (task, n) => each.addArray().add(task).add(n) }
    Json.mapper.writeValueAsString(o)
  }
}

private object HotKeys {

  /** The number of keys that a task samples of an edge between two calls of `take`. */
  val perTurn = 200L

  /** The number of keys that are counted at once, of keys that are shown, and of characters of a key. */
  val most = 400
  val shown = 20
  val longest = 200
}
