package org.apache.spark.sql.millrace

import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, ProcessingTimeExecutor}
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.util.SystemClock

/**
 * The pauses between the triggers of a query without an interval. Spark's trigger asks the broker for new records all
 * the time, and starts a micro-batch for each that it finds; a micro-batch costs the same for one record as for a
 * hundred. So a query that gets few records waits for some more before the next micro-batch, longer where micro-batches
 * take longer, and one that gets none asks less often the longer that lasts. A query with [[Pacing.busy]] records a
 * second or more never waits.
 */
object Pacing {

  /** The pause after a micro-batch with hardly any records, in ms, and in multiples of the time that it took. */
  private[millrace] val fewMs = 200L
  private[millrace] val fewTimes = 3L

  /** The longest pause, in ms. */
  private[millrace] val longestMs = 800L

  /** The records a second from which on there is no pause. */
  private[millrace] val busy = 2000.0

  /** An empty trigger takes at most this share of the time. */
  private val share = 20L

  /** The time without records, in multiples of the pause. */
  private val patience = 60L

  /** The seconds since the last micro-batch of a query that pauses; 0 for others, and while one runs (py4j). */
  def idleSeconds(query: StreamingQuery): Double = query match {
    case thread: StreamThread => thread.idleSeconds
    case _ =>
      execution(query)
        .filterNot(_.status.isDataAvailable)
        .flatMap(own => paced(own.triggerExecutor))
        .fold(0.0)(_.idleSeconds)
  }

  /** Whether a query that pauses gets so few records that a stream thread should continue it (py4j). */
  def calm(query: StreamingQuery): Boolean =
    execution(query).flatMap(own => paced(own.triggerExecutor)).exists(_.calm) && StreamThread.fits(query)

  private def paced(trigger: AnyRef): Option[PacedClock] = trigger match {
    case t: ProcessingTimeExecutor => Option(clockOf.get(t)).collect { case clock: PacedClock => clock }
    case _ => None
  }

  /**
   * The next offset of every topic-partition that a query reads, `{topic: {partition: offset}}`, after it has stopped;
   * null if it has begun a micro-batch that it has not completed (py4j).
   */
  def positions(query: StreamingQuery): String = query match {
    case thread: StreamThread => thread.positions.orNull
    case _ => completed(query)
  }
  private def completed(query: StreamingQuery): String = execution(query).flatMap { own =>
    val (available, committed) = (own.availableOffsets, own.committedOffsets)
    val done = available.nonEmpty && available.forall { case (source, at) =>
      committed.get(source).exists(_.json == at.json)
    }
    Option.when(done) {
      val all = committed.values.toSeq.flatMap(offset => PartitionOffsets.parse(offset.json))
      PartitionOffsets.json(all.groupMapReduce(_._1)(_._2)(Math.min))
    }
  }.orNull

  /** Until this query ends, lets it pause between its triggers (py4j). */
  def start(query: StreamingQuery): Unit = execution(query).foreach { own =>
    val t = new Thread(() => install(own), "millrace-pacing")
    t.setDaemon(true)
    t.start()
  }

  private def execution(query: StreamingQuery): Option[MicroBatchExecution] = query match {
    case w: org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper => execution(w.streamingQuery)
    case own: MicroBatchExecution => Some(own)
    case _ => None
  }

  /** Replaces the clock of the query's trigger, which exists when the query has opened its sources. */
  private def install(own: MicroBatchExecution): Unit = {
    while (own.isActive && own.triggerExecutor == null) Thread.sleep(5)
    own.triggerExecutor match {
      case trigger: ProcessingTimeExecutor => clockOf.set(trigger, new PacedClock(() => batch(own)))
      case _ => // all records at once, or real time
    }
  }

  private val clockOf = {
    val f = classOf[ProcessingTimeExecutor].getDeclaredField("clock")
    f.setAccessible(true)
    f
  }
  private def batch(own: MicroBatchExecution): Pacing.Batch = {
    val last = own.lastProgress
    if (last == null) Batch(-1L, 0L) else Batch(last.batchId, last.numInputRows)
  }

  private[millrace] final case class Batch(id: Long, rows: Long)

  /**
   * The pause after a trigger, in ms. `rows`: of its micro-batch, negative if there was none; `tookMs`: the time since
   * the previous pause; `idleMs`: the time since the last micro-batch.
   */
  def pauseMs(rows: Long, tookMs: Long, idleMs: Long, rate: Double): Long =
    if (rows >= 0) {
      val longest = math.min(longestMs, math.max(fewMs, tookMs * fewTimes))
      (longest * math.max(0.0, 1.0 - rate / busy)).toLong
    } else math.min(longestMs, math.max(tookMs * share, idleMs / patience))
}

/** A clock that pauses when it is read, which the trigger does before each round. */
private[millrace] final class PacedClock(last: () => Pacing.Batch) extends SystemClock {
  private var seen = -1L
  private var roundAt = System.nanoTime()
  @volatile private var batchAt = System.nanoTime()

  /** The rounds that have begun, of the first two: it is not known yet whether the first one finds records. */
  @volatile private var rounds = 0

  def idleSeconds: Double = if (rounds < 2) 0.0 else (System.nanoTime() - batchAt) / 1e9

  /** Records a second, an average in which older micro-batches count less. */
  @volatile private var rate = Pacing.busy

  def calm: Boolean = rounds >= 2 && (rate < Pacing.busy || idleSeconds > 1.0)

  override def getTimeMillis(): Long = {
    val now = System.nanoTime()
    val found = last()
    val rows = if (found.id == seen) -1L else found.rows
    if (rows >= 0) {
      seen = found.id
      val seconds = math.max(1e-3, (now - batchAt) / 1e9)
      val weight = math.min(1.0, seconds)
      rate += weight * (rows / seconds - rate)
      batchAt = now
    }
    val pause = Pacing.pauseMs(rows, (now - roundAt) / 1000000, (now - batchAt) / 1000000, rate)
    if (pause > 0) Thread.sleep(pause)
    roundAt = System.nanoTime()
    rounds = math.min(2, rounds + 1)
    super.getTimeMillis()
  }
}
