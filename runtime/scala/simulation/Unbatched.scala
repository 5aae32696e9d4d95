package org.apache.spark.sql.millrace

import scala.collection.mutable

import org.apache.spark.sql.{Dataset, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.classic

/**
 * Runs the chain of levels over a complete input: with the same tasks, stores and clocks, split into the same
 * micro-batches and restarted from the same state, but in this thread and without Spark's micro-batches, which take a
 * hundred times as long as a handful of records. For simulations, and for thousands of tests of the operator.
 */
private[millrace] final class Unbatched(levels: Seq[LevelSpec], options: TaskOptions, statistics: RunAccumulator) {
  private val begun = Simulation.begun(options.run)
  private val chain = new TaskChain(levels, options, t => statistics.add(t.report()), new HeldStates(begun))

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
        begun.keys.toSeq.sorted.foreach { case (level, index) => if (level == l.level) chain.task(level, index) }
      }
      cuts.ends.iterator.filter(to => !halted && (!Simulation.stopped(options.run) || dump.contains(to))).foreach {
        to =>
          if (dump.contains(to)) from = to - 1
          val more = chain.run(rows.filter { r =>
            val m = r.getLong(Envelope.MERGE)
            m > from && m <= to
          })
          halted = more.exists(_.getInt(Envelope.DEST) == Envelope.STOP)
          out ++= more
          from = to
          Simulation.finished(options.run)
          if (cuts.restartEach) chain.restart()
      }
    } finally chain.restart()
    out.toSeq
  }
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
