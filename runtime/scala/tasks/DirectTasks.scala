package org.apache.spark.sql.millrace

import java.util.PriorityQueue

import org.apache.spark.{Dependency, NarrowDependency, Partition, SparkException, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{classic, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.datasources.v2.{MicroBatchScanExec, RealTimeStreamScanExec}

/* Tasks without a shuffle. If all rows of a level come from one Kafka source, and the task of a row is its partition's
 * number modulo the number of tasks, then a task can read its topic-partitions itself: Kafka returns each of them in
 * the order of its offsets, in which `merge` only grows, so merging them by the rows' places yields the same order as a
 * shuffle and a sort [PL1]. Nothing is serialized, written, read back or sorted on the way.
 *
 * This depends on Spark's scan nodes and on the connector's input partitions, whose topic-partition has no public API.
 * All other cases use Internals.ordered. */

/** Moves rows of topic-partitions whose number is i modulo `tasks` to partition i of `partitions`. */
private[millrace] case class DirectTasks(
    order: Seq[SortOrder],
    tasks: Int,
    partitions: Int,
    arriving: Option[Arriving],
    child: LogicalPlan
) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(c: LogicalPlan): DirectTasks = copy(child = c)
}

private[millrace] object DirectTasks {

  /** Whether the plan has one source only, so that its partitions are those of the source. */
  def fits(df: classic.Dataset[Row]): Boolean = df.queryExecution.analyzed.collectLeaves().size == 1

  /** The topic and partition of a source's input partition. */
  def placeOf(partition: AnyRef): (String, Int) = {
    def ask(o: AnyRef, method: String): AnyRef = {
      val m = o.getClass.getMethod(method)
      m.setAccessible(true)
      m.invoke(o)
    }
    val place =
      try ask(ask(partition, "offsetRange"), "topicPartition")
      catch { case _: NoSuchMethodException => ask(partition, "topicPartition") }
    (ask(place, "topic").asInstanceOf[String], ask(place, "partition").asInstanceOf[Integer].intValue)
  }
}

/** A partitioning with the rows of task i, which have its salt, in partition i and nowhere else. */
private[millrace] case class TaskPartitioning(task: Attribute, override val numPartitions: Int) extends Partitioning {
  override def satisfies0(required: Distribution): Boolean = required match {
    case s: StatefulOpClusteredDistribution => s.expressions.forall(_.semanticEquals(task))
    case c: ClusteredDistribution => c.clustering.exists(_.semanticEquals(task))
    case _ => super.satisfies0(required)
  }
}

private[millrace] case class DirectTasksExec(
    order: Seq[SortOrder],
    tasks: Int,
    partitions: Int,
    arriving: Option[Arriving],
    child: SparkPlan
) extends UnaryExecNode {
  private def task: Attribute = order.head.child.asInstanceOf[Attribute]
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = TaskPartitioning(task, partitions)
  override def outputOrdering: Seq[SortOrder] = Seq(SortOrder(task, Ascending))
  override protected def withNewChildInternal(c: SparkPlan): DirectTasksExec = copy(child = c)

  override protected def doExecute(): RDD[InternalRow] = {
    val places = child
      .collect { case m: MicroBatchScanExec => m.inputPartitions; case r: RealTimeStreamScanExec => r.inputPartitions }
      .flatten
      .map(DirectTasks.placeOf)
      .toIndexedSeq
    val rows = child.execute()
    if (rows.partitions.length != places.size)
      throw SparkException.internalError(
        s"${rows.partitions.length} partitions of rows come from ${places.size} topic-partitions"
      )
    val groups = Array.tabulate(partitions)(i =>
      places.indices.filter(at => i < tasks && places(at)._2 % tasks == i).sortBy(places(_)).toArray
    )
    new DirectTasksRDD(rows, groups, order, output, arriving)
  }
}

private final class DirectPartition(override val index: Int, val parents: Array[Partition]) extends Partition

private final class DirectTasksRDD(
    rows: RDD[InternalRow],
    groups: Array[Array[Int]],
    order: Seq[SortOrder],
    columns: Seq[Attribute],
    arriving: Option[Arriving]
) extends RDD[InternalRow](rows.sparkContext, Nil) {
  override def getDependencies: Seq[Dependency[_]] =
    Seq(new NarrowDependency[InternalRow](rows) {
      override def getParents(partition: Int): Seq[Int] = groups(partition).toSeq
    })
  override def getPartitions: Array[Partition] = groups.zipWithIndex.map { case (parents, i) =>
    new DirectPartition(i, parents.map(rows.partitions(_))): Partition
  }

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    val inputs = split.asInstanceOf[DirectPartition].parents.map(p => rows.iterator(p, context))
    arriving match {
      case Some(a) => a.rows(inputs, split.index, RowOrdering.create(order, columns), context)
      case None =>
        inputs.length match {
          case 0 => Iterator.empty
          case 1 => inputs(0)
          case _ => new HeadMerge(inputs, RowOrdering.create(order, columns))
        }
    }
  }
}

/** Merges sorted iterators. Like the rows of the iterators, a row stays valid until the next one is requested. */
private[millrace] final class HeadMerge(inputs: Array[Iterator[InternalRow]], order: Ordering[InternalRow])
    extends Iterator[InternalRow] {
  private final class Head(val number: Int) { var row: InternalRow = _ }
  private val heads = new PriorityQueue[Head](
    inputs.length,
    (a: Head, b: Head) => {
      val c = order.compare(a.row, b.row)
      if (c != 0) c else Integer.compare(a.number, b.number)
    }
  )
  private var handed: Head = _
  inputs.indices.foreach(i => refill(new Head(i)))

  private def refill(h: Head): Unit = if (inputs(h.number).hasNext) { h.row = inputs(h.number).next(); heads.add(h) }
  private def advance(): Unit = if (handed != null) { val h = handed; handed = null; refill(h) }
  override def hasNext: Boolean = { advance(); !heads.isEmpty }
  override def next(): InternalRow = { advance(); handed = heads.remove(); handed.row }
}
