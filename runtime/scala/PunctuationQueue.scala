package org.apache.spark.sql.millrace

import java.util.PriorityQueue

/** Schedules of one clock, stream time or wall clock, by the time of their next punctuation. */
private[millrace] final class PunctuationQueue {
  private val queue = new PriorityQueue[PunctuationSchedule]((a: PunctuationSchedule, b: PunctuationSchedule) => {
    val c = java.lang.Long.compare(a.next.value, b.next.value)
    if (c != 0) c else Integer.compare(a.number, b.number)
  })

  def isEmpty: Boolean = queue.isEmpty
  def schedule(s: PunctuationSchedule): Unit = queue.add(s)

  /**
   * Punctuates all that are due at `now` and concerned, earliest first; once each, however many intervals have passed.
   */
  def mayPunctuate(now: Long)(concerned: PunctuationSchedule => Boolean): Unit = {
    val others = new java.util.ArrayList[PunctuationSchedule]()
    while (!queue.isEmpty && queue.peek().next.value <= now) {
      val s = queue.poll()
      if (!concerned(s)) others.add(s)
      else if (!s.isCancelled) {
        s.punctuate(now)
        if (!s.isCancelled) { s.advance(now); queue.add(s) }
      }
    }
    queue.addAll(others)
  }
}

/** One schedule of a node. `next` is kept with the state. */
private[millrace] final class PunctuationSchedule(
    val number: Int,
    val node: Node,
    interval: Long,
    val next: Clock,
    streamTime: Boolean,
    callback: Long => Unit
) extends Schedule {
  private var cancelled = false
  def isCancelled: Boolean = cancelled
  override def cancel(): Unit = cancelled = true

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
      else next.value + ((now - next.value) / interval + 1) * interval
    )
}
