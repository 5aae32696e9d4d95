package org.apache.spark.sql.millrace

import java.util.{ArrayList => JArrayList, Comparator, PriorityQueue}

/**
 * Schedules of one clock, stream time or wall clock, by the time of their next punctuation; of equal times in the order
 * of Kafka Streams' heap. Their places in the heap are kept with the state, so that a restart does not change that
 * order.
 */
private[millrace] final class PunctuationQueue {
  private val queue =
    new PriorityQueue[PunctuationSchedule](Comparator.comparingLong((s: PunctuationSchedule) => s.next.value))

  /** The schedules that `init` has made, until the places of all are known. */
  private var made = new JArrayList[PunctuationSchedule]()
  private var moved = false

  def isEmpty: Boolean = queue.isEmpty && (made == null || made.isEmpty)

  def schedule(s: PunctuationSchedule): Unit = {
    if (made == null) queue.add(s) else made.add(s)
    moved = true
  }

  /** Runs all punctuations that are due at `now`, earliest first; each once, however many intervals have passed. */
  def mayPunctuate(now: Long): Unit = {
    if (made != null) {
      made.sort(Comparator.comparingLong((s: PunctuationSchedule) => s.order))
      queue.addAll(made)
      made = null
    }
    while (!queue.isEmpty && queue.peek().next.value <= now) {
      val s = queue.poll()
      moved = true
      if (!s.isCancelled) {
        s.punctuate(now)
        if (!s.isCancelled) { s.advance(now); queue.add(s) }
      }
    }
  }

  /** Notes the places in the heap: a heap that is filled in the order of its array has the same array. */
  def keepPlaces(): Unit = if (moved && made == null) {
    var i = 0L
    queue.forEach { s => s.place.set(i); i += 1 }
    moved = false
  }
}

/** One schedule of a node. `next` and its `place` in the queue are kept with the state. */
private[millrace] final class PunctuationSchedule(
    val node: Node,
    interval: Long,
    val next: Clock,
    val place: Clock,
    streamTime: Boolean,
    callback: Long => Unit
) extends Schedule {
  private var cancelled = false
  def isCancelled: Boolean = cancelled
  override def cancel(): Unit = cancelled = true

  /** The order in which the queue is filled: new schedules come after those that have a place. */
  def order: Long = if (place.value < 0) Long.MaxValue else place.value

  def punctuate(now: Long): Unit = {
    val trace = node.trace
    if (trace == null) call(now)
    else {
      trace.punctuated(node, streamTime, now)
      try call(now)
      finally trace.left()
    }
  }
  private def call(now: Long): Unit = try callback(now)
  catch {
    case s: Stop => throw s
    case e: Exception => node.failures.failed(node, e, now)
  }

  /** The next multiple of the interval after `now`; missed ones collapse into one [PA4]. */
  def advance(now: Long): Unit =
    next.set(
      if (now < next.value + interval) next.value + interval
      else
        try Math.addExact(next.value, Math.multiplyExact((now - next.value) / interval + 1, interval))
        catch { case _: ArithmeticException => Long.MaxValue }
    )
}
