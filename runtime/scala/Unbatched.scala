package org.apache.spark.sql.millrace

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Dataset, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BoundReference
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering
import org.apache.spark.sql.catalyst.expressions.{Ascending, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.classic

/**
 * Runs the chain of levels over a complete input: with the same tasks, stores and clocks, split into the same
 * micro-batches and restarted from the same state, but in this thread and without Spark's micro-batches, which take a
 * hundred times as long as a handful of records. For simulations, and for thousands of tests of the operator.
 */
private[millrace] final class Unbatched(levels: Seq[LevelSpec], options: TaskOptions, statistics: RunAccumulator) {
  private final class Place(level: LevelSpec, salt: Int) {
    private val begun = Simulation.begun(options.run).get((level.level, options.indexOf(salt)))
    private val state = begun.getOrElse(new HeldState)
    private var task: StreamTask = _
    if (begun.isDefined) { open(); task.showStores() }
    private def open(): Unit = {
      task = new StreamTask(new Shipped(level).read(), options.indexOf(salt), salt, options)
      task.open(state)
    }
    def run(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
      if (task == null) open() else task.resume(state)
      task.run(rows, () => statistics.add(task.report()))
    }
    def restart(): Unit = if (task != null) { task.close(); task = null }
  }
  private val places = mutable.Map[(Int, Int), Place]()
  private val order = new LazilyGeneratedOrdering(Envelope.order.map { name =>
    val at = Envelope.schema.fieldIndex(name)
    SortOrder(BoundReference(at, Envelope.schema(at).dataType, nullable = true), Ascending)
  })

  /**
   * Returns the rows that come out of the last level. Nothing is processed after a STOP; after a stop from outside,
   * only the request for the contents of stores is.
   */
  def run(rows: Array[InternalRow], cuts: Simulation.Cuts): Seq[InternalRow] = {
    val out = mutable.ArrayBuffer[InternalRow]()
    var from = Long.MinValue
    var halted = false
    val dump = if (cuts.dump) cuts.ends.lastOption else None
    try {
      levels.foreach { l =>
        Simulation.begun(options.run).keys.toSeq.sorted.foreach { case (level, index) =>
          if (level == l.level) place(l, options.salt(index))
        }
      }
      cuts.ends.iterator.filter(to => !halted && (!Simulation.stopped(options.run) || dump.contains(to))).foreach {
        to =>
          if (dump.contains(to)) from = to - 1
          val more = levels.foldLeft(rows.filter { r =>
            val m = r.getLong(Envelope.MERGE)
            m > from && m <= to
          })(level)
          halted = more.exists(_.getInt(Envelope.DEST) == Envelope.STOP)
          out ++= more
          from = to
          Simulation.finished(options.run)
          if (cuts.restartEach) places.values.foreach(_.restart())
      }
    } finally places.values.foreach(_.restart())
    out.toSeq
  }

  private def level(rows: Array[InternalRow], level: LevelSpec): Array[InternalRow] =
    rows.groupBy(_.getInt(Envelope.TASK)).toArray.sortBy(_._1).flatMap { case (salt, own) =>
      place(level, salt).run(own.sorted(order).iterator).toArray[InternalRow]
    }

  private def place(level: LevelSpec, salt: Int): Place =
    places.getOrElseUpdate((level.level, salt), new Place(level, salt))
}

object Unbatched {

  /** Runs the levels on a batch DataFrame, at once. */
  private[millrace] def attach(
      source: classic.Dataset[Row],
      levels: Seq[LevelSpec],
      options: TaskOptions,
      statistics: RunAccumulator
  ): Dataset[Row] = {
    val rows = source.queryExecution.toRdd.map(_.copy()).collect()
    val out = new Unbatched(levels, options, statistics).run(rows, Simulation.cuts(options.run))
    classic.Dataset.ofRows(
      source.sparkSession,
      LocalRelation(Internals.attributes(Envelope.schema), out, isStreaming = false)
    )
  }

  /** Writes a DataFrame's rows to the run's sink, as a streaming query would (py4j). */
  def drain(rows: Dataset[Row], run: String): Unit = {
    val writer = Simulation.sinkOf(run).writer()
    rows.asInstanceOf[classic.Dataset[Row]].queryExecution.toRdd.map(_.copy()).collect().foreach(writer.write)
    writer.commit()
  }
}
