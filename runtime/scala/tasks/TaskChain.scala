package org.apache.spark.sql.millrace

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, InterpretedOrdering, SortOrder}

/** Where the tasks of a chain have their states. */
private[millrace] trait ChainStates {

  /** The state of a task, for one micro-batch. */
  def state(level: Int, index: Int): StateHandle

  /** Whether the task begins with rows that a trace shows before the first record. */
  def shown(level: Int, index: Int): Boolean = false
}

/** States in memory. `begun`: those that tasks begin with, by level and index, and `fresh` the others. */
private[millrace] final class HeldStates(
    begun: Map[(Int, Int), HeldState] = Map.empty,
    fresh: () => HeldState = () => new HeldState
) extends ChainStates {
  private val held = mutable.Map[(Int, Int), HeldState]()
  private var marked = false

  override def state(level: Int, index: Int): StateHandle = held.getOrElseUpdate(
    (level, index), {
      val made = begun.getOrElse((level, index), fresh())
      if (marked) made.mark()
      made
    }
  )
  override def shown(level: Int, index: Int): Boolean = begun.contains((level, index))

  /** From now on keeps what [[undo]] needs. */
  def mark(): Unit = { marked = true; held.values.foreach(_.mark()) }

  /** Undoes the changes since [[mark]]. */
  def undo(): Unit = held.values.foreach(_.undo())
}

/**
 * The tasks of all levels in this thread. Rows go through the levels one after another, as in a micro-batch of a query.
 * `done`: called with each task that has rows, after each micro-batch.
 */
private[millrace] final class TaskChain(
    levels: Seq[LevelSpec],
    options: TaskOptions,
    done: StreamTask => Unit,
    states: ChainStates
) {
  private final class Place(level: LevelSpec, salt: Int) {
    private val index = options.indexOf(salt)
    private var running: StreamTask = _

    /** What an earlier task left for the next one, see [[rewind]]. */
    private var spec: LevelSpec = _
    private var python: PythonWorker = _
    if (states.shown(level.level, index)) task.showStores()

    /** The task; it starts from its state if it is not running. */
    def task: StreamTask = {
      val state = states.state(level.level, index)
      if (running == null) {
        if (spec == null) spec = new Shipped(level).read()
        running = new StreamTask(spec, index, salt, options, python)
        python = null
        running.open(state)
      } else running.resume(state)
      running
    }
    def run(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
      val t = task; t.run(rows, () => done(t))
    }
    def between(place: InternalRow)(body: StreamTask => Unit): Array[InternalRow] = {
      val t = task
      t.between(place, () => done(t))(body(t)).toArray
    }

    /** The task if it is running, else null. */
    def current: StreamTask = running
    def restart(): Unit = {
      rewind()
      if (python != null) python.close()
      python = null
      spec = null
    }
    def rewind(): Unit = if (running != null) {
      python = running.retire()
      closed ++= running.logged
      running = null
      if (python != null && level.settings.modules != null) { python.close(); python = null }
    }
  }
  private val places = mutable.LinkedHashMap[(Int, Int), Place]()
  private val closed = mutable.ArrayBuffer[LogLine]()

  /** Interpreted: the compiler of generated code takes longer to load than these few rows to sort. */
  private val order = new InterpretedOrdering(Envelope.order.map { name =>
    val at = Envelope.schema.fieldIndex(name)
    SortOrder(BoundReference(at, Envelope.schema(at).dataType, nullable = true), Ascending)
  })

  /** Runs one micro-batch, and returns the rows that come out of the last level. */
  def run(rows: Array[InternalRow]): Array[InternalRow] = levels.foldLeft(rows)(level)

  /**
   * Runs `body` between two records of a task, and the rows that it sends on the later levels. `row`: the place of
   * these rows.
   */
  def between(level: Int, index: Int, row: InternalRow)(body: StreamTask => Unit): Array[InternalRow] = {
    val sent = place(level, options.salt(index)).between(row)(body)
    levels.filter(_.level > level).foldLeft(sent)(this.level)
  }

  /** The task with this index of a level. */
  def task(level: Int, index: Int): StreamTask = place(level, options.salt(index)).task

  /** The tasks that are running. */
  def running: Seq[StreamTask] = places.values.map(_.current).filter(_ != null).toSeq

  /** Ends all tasks; they start again from their states when they are next used. */
  def restart(): Unit = places.values.foreach(_.restart())

  /**
   * The same, but the next tasks reuse what no record has changed and what takes long to make: the generated code of
   * expressions, and Python processes, unless they have modules, whose variables a processor may have set.
   */
  def rewind(): Unit = places.values.foreach(_.rewind())

  /** The log lines of tasks that ended, which no report has. */
  def takeClosed(): Seq[LogLine] = { val lines = closed.toSeq; closed.clear(); lines }

  private def level(rows: Array[InternalRow], level: LevelSpec): Array[InternalRow] =
    rows.groupBy(_.getInt(Envelope.TASK)).toArray.sortBy(_._1).flatMap { case (salt, own) =>
      place(level.level, salt).run(own.sorted(order).iterator).toArray[InternalRow]
    }

  private def place(level: Int, salt: Int): Place =
    places.getOrElseUpdate((level, salt), new Place(levels.find(_.level == level).get, salt))
}
