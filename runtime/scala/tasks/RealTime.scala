package org.apache.spark.sql.millrace

import java.util.ArrayDeque
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.unsafe.types.UTF8String

/* Spark's real-time mode. The trigger is the duration of a batch, all stages run at once, and a row goes through all of
 * them when it arrives. So nothing may wait for the end of its input: no sort, and no merge that waits for an input
 * without rows. Each input of a task is read by its own thread; of the available rows, the one with the smallest place
 * is next, as Kafka Streams takes the smallest head of its buffers [PL1]. The wall clock of punctuation, which in
 * micro-batches is a separate source, comes between the rows. */

/**
 * How a task processes rows as they arrive. `ticks`: with a control row each second, for wall-clock schedules; `salts`:
 * the values of `task`.
 */
private[millrace] final case class Arriving(ticks: Boolean, salts: Seq[Int]) {
  def rows(
      inputs: Array[Iterator[InternalRow]],
      partition: Int,
      order: Ordering[InternalRow],
      context: TaskContext
  ): Iterator[InternalRow] =
    if (inputs.isEmpty) Iterator.empty
    else if (inputs.length == 1 && !ticks) inputs(0)
    else new Interleaved(inputs, order, if (ticks) Ticks.every(salts(partition)) else null, context)
}

/** Adds control rows between the rows of an input that is partitioned by tasks. */
private[millrace] case class Ticking(arriving: Arriving, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(c: LogicalPlan): Ticking = copy(child = c)
}

private[millrace] case class TickingExec(arriving: Arriving, child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = Nil
  override protected def withNewChildInternal(c: SparkPlan): TickingExec = copy(child = c)
  override protected def doExecute(): RDD[InternalRow] = {
    val how = arriving
    child.execute().mapPartitionsWithIndexInternal((i, rows) => how.rows(Array(rows), i, null, TaskContext.get()))
  }
}

/** Creates control rows with the wall-clock time. */
private[millrace] final class Ticks(salt: Int, val everyMs: Long) {
  private val toUnsafe = UnsafeProjection.create(Envelope.schema)
  def row(): InternalRow = {
    val now = System.currentTimeMillis()
    val v = new Array[Any](Envelope.schema.length)
    v(Envelope.TASK) = salt
    v(Envelope.DEST) = Envelope.CONTROL
    v(Envelope.MERGE) = now
    v(Envelope.TOPIC) = Ticks.topic
    v(Envelope.PARTITION) = 0
    v(Envelope.OFFSET) = 0L
    v(Envelope.PATH) = Array.emptyByteArray
    v(Envelope.TIMESTAMP) = now
    v(Envelope.VALUE) = s"""{"wall_clock": $now}""".getBytes("UTF-8")
    toUnsafe(new GenericInternalRow(v))
  }
}

private[millrace] object Ticks {
  private val topic = UTF8String.fromString("$control")
  def every(salt: Int): Ticks = new Ticks(salt, 1000L)
}

/**
 * Rows of several inputs as they arrive, the smallest of the available ones first. Waits for none of the inputs, except
 * for a moment at the start.
 */
private[millrace] final class Interleaved(
    inputs: Array[Iterator[InternalRow]],
    order: Ordering[InternalRow],
    ticks: Ticks,
    context: TaskContext
) extends Iterator[InternalRow] {
  private val lock = new ReentrantLock()
  private val changed = lock.newCondition()
  private val taken = lock.newCondition()
  private val waiting = inputs.map(_ => new ArrayDeque[InternalRow]())
  private val ended = new Array[Boolean](inputs.length)
  private var error: Throwable = _
  private var closed = false
  private var ready: InternalRow = _
  private val began = System.nanoTime()
  private var tickAt = began
  private val readers = inputs.indices.map { i =>
    val t = new Thread(() => read(i), s"${Thread.currentThread.getName}, input $i")
    t.setDaemon(true)
    t
  }
  // The readers must end before Spark closes the inputs, because only a reader may use its input.
  context.addTaskFailureListener((_, _) => stop())
  context.addTaskCompletionListener[Unit](_ => stop())
  readers.foreach(_.start())

  private def locked[T](body: => T): T = {
    lock.lockInterruptibly()
    try body
    finally lock.unlock()
  }

  private def read(i: Int): Unit = {
    TaskContext.setTaskContext(context)
    try {
      while (!closed && inputs(i).hasNext) {
        val row = inputs(i).next().copy()
        locked {
          while (waiting(i).size >= Interleaved.most && !closed) taken.await()
          waiting(i).add(row)
          changed.signal()
        }
      }
    } catch {
      case e: Throwable =>
        lock.lock()
        try { if (!closed && error == null) error = e }
        finally lock.unlock()
    } finally {
      lock.lock()
      try { ended(i) = true; changed.signal() }
      finally lock.unlock()
      TaskContext.unset()
    }
  }

  override def hasNext: Boolean = {
    if (ready == null) ready = locked(take())
    ready != null
  }

  private def take(): InternalRow = {
    while (true) {
      if (error != null) throw error
      val now = System.nanoTime()
      if (ticks != null && now - tickAt >= 0) { tickAt = now + ticks.everyMs * 1000000L; return ticks.row() }
      val first = began + Interleaved.patienceNs - now
      var complete = true
      var over = true
      var smallest = -1
      var i = 0
      while (i < waiting.length) {
        val head = waiting(i).peek()
        if (head != null) {
          over = false
          if (smallest < 0 || order.compare(head, waiting(smallest).peek()) < 0) smallest = i
        } else if (!ended(i)) { over = false; complete = false }
        i += 1
      }
      if (over) return null
      if (smallest >= 0 && (complete || first <= 0)) {
        val row = waiting(smallest).poll()
        taken.signalAll()
        return row
      }
      val pause = if (ticks == null) Long.MaxValue else tickAt - now
      changed.awaitNanos(if (first > 0) Math.min(first, pause) else pause)
    }
    null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    val row = ready
    ready = null
    row
  }

  private def stop(): Unit = {
    lock.lock()
    try { closed = true; taken.signalAll() }
    finally lock.unlock()
    readers.foreach { t => if (t.isAlive) { t.interrupt(); t.join(10000L) } }
  }
}

private[millrace] object Interleaved {

  /** The number of rows of an input that are read ahead. */
  val most = 512

  /** How long the first row waits for those of other inputs, so that rows already on the broker are merged by time. */
  val patienceNs = 300L * 1000000L
}
