package org.apache.spark.sql.millrace

import org.apache.spark.sql.{Column, Row, SparkSession}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoder, ExpressionEncoder, RowEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{
  CodeGenerator,
  CodegenContext,
  EmptyBlock,
  ExprCode,
  FalseLiteral,
  JavaCode
}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.plans.logical.{
  LogicalPlan,
  Repartition,
  RepartitionByExpression,
  SerializeFromObject,
  UnaryNode
}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.{SortExec, SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.types._

/* Internal APIs of Spark that the operator uses, and why. All of it is here, except for Catalyst's expressions, rows
 * and analyzer, in Expressions.scala and Columns.scala.
 * - RowThrough, an Encoder[InternalRow]: records and state without conversion to Row
 * - SameCode: constants that differ from batch to batch, outside of generated code
 * - LeavingRows: rows for the sink as the tasks made them
 * - LocalOrder, a sort within each partition, because a plain Sort is refused on streams
 * - salts: which literal lands in which shuffle partition
 * - Frugal.scala: listeners and settings of a session
 * - DirectTasks.scala: tasks that read their topic-partitions without a shuffle
 * - RocksDBAccess.scala: seeks in the state of a MapState, and a MapState for several micro-batches
 * - column, expression: between Column and Catalyst */

/** A decoder that passes the incoming row through as it is. */
private[millrace] case class RowThrough(children: Seq[Expression]) extends Expression {
  override def nullable: Boolean = false
  override def dataType: DataType = ObjectType(classOf[InternalRow])
  override def eval(input: InternalRow): Any = input
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ev.copy(code = EmptyBlock, isNull = FalseLiteral, value = JavaCode.expression(ctx.INPUT_ROW, classOf[InternalRow]))
  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Expression = copy(children = c)
}

/**
 * A constant that differs from one micro-batch to the next, as the time of the batch does. Spark would write it into
 * the code that it generates: code that it has to compile anew for each micro-batch, and that the JVM never optimizes.
 */
private[millrace] case class SameCode(child: Expression) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = child.eval(input)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val boxed = CodeGenerator.boxedType(dataType)
    val value = ctx.addReferenceObj("constant", child.eval(null).asInstanceOf[AnyRef], boxed)
    ev.copy(code = EmptyBlock, isNull = FalseLiteral, value = JavaCode.expression(s"(($boxed) $value)", dataType))
  }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

/** Sorts rows inside each partition of a streaming plan. */
private[millrace] case class LocalOrder(order: Seq[SortOrder], child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(c: LogicalPlan): LocalOrder = copy(child = c)
}

/**
 * The rows of the last level, on their way to the sink, which reads their columns: as the tasks made them, without a
 * copy in Spark's own format.
 */
private[millrace] case class LeavingRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  /** All columns, so that none is removed from the child: the rows have all of them. */
  @transient override lazy val references: AttributeSet = child.outputSet
  override protected def withNewChildInternal(c: LogicalPlan): LeavingRows = copy(child = c)
}

private[millrace] case class LeavingRowsExec(output: Seq[Attribute], child: SparkPlan) extends UnaryExecNode {
  override protected def withNewChildInternal(c: SparkPlan): LeavingRowsExec = copy(child = c)
  override protected def doExecute(): RDD[InternalRow] =
    child.execute().mapPartitionsInternal(_.map(_.get(0, Internals.rowType).asInstanceOf[InternalRow]))
}

private[millrace] object TaskStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case LocalOrder(order, child) => SortExec(order, global = false, planLater(child)) :: Nil
    case DirectTasks(order, tasks, partitions, arriving, child) =>
      DirectTasksExec(order, tasks, partitions, arriving, planLater(child)) :: Nil
    case LeavingRows(SerializeFromObject(columns, child)) if columns.length == Envelope.schema.length =>
      LeavingRowsExec(columns.map(_.toAttribute), planLater(child)) :: Nil
    case LeavingRows(child) => planLater(child) :: Nil
    case Ticking(arriving, child) => TickingExec(arriving, planLater(child)) :: Nil
    case _ => Nil
  }
}

private[millrace] object Internals {
  def encoder(schema: StructType): ExpressionEncoder[InternalRow] = {
    val in = BoundReference(0, schema, nullable = false)
    val fields = CreateNamedStruct(schema.fields.toIndexedSeq.zipWithIndex.flatMap { case (f, i) =>
      Seq(Literal(f.name), GetStructField(in, i, Some(f.name)))
    })
    ExpressionEncoder[InternalRow](
      RowEncoder.encoderFor(schema).asInstanceOf[AgnosticEncoder[InternalRow]],
      fields,
      RowThrough(Nil)
    )
  }

  /**
   * Hash partitions rows by `task` into n partitions, sorted by the envelope's order. A single partition is not
   * shuffled.
   */
  def ordered(df: classic.Dataset[Row], n: Int): classic.Dataset[Row] =
    planned(df)((plan, order) =>
      LocalOrder(
        order,
        if (n == 1) Repartition(1, shuffle = false, plan)
        else RepartitionByExpression(Seq(order.head.child), plan, Some(n))
      )
    )

  /** The same without a shuffle, for rows of one source whose `task` is their partition's number modulo `tasks`. */
  def direct(df: classic.Dataset[Row], tasks: Int, n: Int, arriving: Option[Arriving] = None): classic.Dataset[Row] =
    planned(df)((plan, order) => DirectTasks(order, tasks, n, arriving, plan))

  /**
   * Hash partitions rows by `task` into n partitions, in order of arrival: a sort would wait for the end of a batch of
   * real time.
   */
  def arriving(df: classic.Dataset[Row], n: Int, as: Arriving): classic.Dataset[Row] = planned(df) { (plan, order) =>
    val partitioned = RepartitionByExpression(Seq(order.head.child), plan, Some(n))
    if (as.ticks) Ticking(as, partitioned) else partitioned
  }

  private def planned(
      df: classic.Dataset[Row]
  )(make: (LogicalPlan, Seq[SortOrder]) => LogicalPlan): classic.Dataset[Row] = {
    val spark = df.sparkSession
    if (!spark.experimental.extraStrategies.contains(TaskStrategy))
      spark.experimental.extraStrategies = spark.experimental.extraStrategies :+ TaskStrategy
    val plan = df.queryExecution.analyzed
    def attribute(name: String) = plan.output
      .find(_.name == name)
      .getOrElse(throw new IllegalArgumentException(s"the envelope lacks the column $name"))
    classic.Dataset.ofRows(spark, make(plan, Envelope.order.map(c => SortOrder(attribute(c), Ascending))))
  }

  /** Integers whose hash is 0, 1, ... n - 1 modulo n: a row with `task` = salts(i) lands in shuffle partition i. */
  def salts(n: Int): Array[Int] = {
    val r = Array.fill(n)(-1)
    var left = n
    var i = 0
    while (left > 0) {
      val p = Math.floorMod(new Murmur3Hash(Seq(Literal(i)), 42).eval(null).asInstanceOf[Int], n)
      if (r(p) < 0) { r(p) = i; left -= 1 }
      i += 1
    }
    r
  }

  /** The same rows, of the last level: see [[LeavingRows]]. */
  def leaving(df: classic.Dataset[Row]): classic.Dataset[Row] =
    classic.Dataset.ofRows(df.sparkSession, LeavingRows(df.queryExecution.analyzed))
  private[millrace] val rowType = ObjectType(classOf[InternalRow])

  def attributes(schema: StructType): Seq[Attribute] = DataTypeUtils.toAttributes(schema)
  def column(e: Expression): Column = classic.ExpressionUtils.column(e)
  def expression(c: Column): Expression = classic.ExpressionUtils.expression(c)
  def classicSession(spark: SparkSession): classic.SparkSession = spark.asInstanceOf[classic.SparkSession]
}
