package org.apache.spark.sql.millrace

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodegenFallback, ExprCode}
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Columns that a DataFrame needs besides Spark's own (py4j). Formats are those of the document, as JSON text.
 *
 *   - `salt(index, n)`: maps a task number to an INT that lands in the shuffle partition of that number, of n
 *   - `partitionFor(key, n)`: Kafka's default partitioner over the key's bytes; 0 for null
 *   - `attempt(c, kind, node, parameter)`: STRUCT<value, fault: STRING>, the value, or the fault as JSON if `c` raises
 *   - `decode(bytes, format)`, `encode(value, format)`: raise if bytes or value do not fit; null stays null
 *   - `runningMax(timestamp, topic, partition)`: BIGINT, the highest timestamp so far of the topic-partition within the
 *     micro-batch
 *   - `rowNumber()`: BIGINT, the number of the row within its Spark partition, whose own number is in the upper bits
 */
object Columns {
  def salt(index: Column, n: Int): Column =
    if (n == 1) lit(Internals.salts(1)(0))
    else Internals.column(SaltOf(Internals.expression(index.cast(IntegerType)), n))

  def partitionFor(key: Column, n: Int): Column = Internals.column(PartitionOf(Internals.expression(key), n))
  def attempt(c: Column, kind: String, node: String, parameter: String): Column =
    Internals.column(Attempt(Internals.expression(c), kind, node, parameter))
  def decode(bytes: Column, format: String): Column =
    Internals.column(Decode(Internals.expression(bytes), format, codec(format).dataType))
  def encode(value: Column, format: String): Column = {
    codec(format, Some(StringType))
    Internals.column(Encode(Internals.expression(value), format))
  }
  def runningMax(timestamp: Column, topic: Column, partition: Column): Column =
    Internals.column(
      RunningMax(Internals.expression(timestamp), Internals.expression(topic), Internals.expression(partition))
    )

  def rowNumber(): Column = Internals.column(RowNumber())

  private[millrace] def codec(format: String, default: Option[DataType] = None): Codec =
    Codec.parse(Json.mapper.readTree(format), default)
}

/**
 * Evaluates its child by itself, so that no part of it can be moved out of the `try`: for the optimizer and the code
 * generator this is one opaque function of the row.
 */
private[millrace] case class Attempt(child: Expression, kind: String, node: String, parameter: String)
    extends UnaryExpression
    with CodegenFallback {
  private lazy val childType = child.dataType
  @transient private lazy val projection = UnsafeProjection.create(Seq(child))
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override def dataType: DataType = new StructType().add("value", childType, nullable = true).add("fault", StringType)
  override def eval(input: InternalRow): Any = {
    val out = new Array[Any](2)
    try {
      val row = projection(input)
      if (!row.isNullAt(0)) out(0) = childType match {
        case StringType => row.getUTF8String(0).clone()
        case _: StructType | _: ArrayType | _: MapType => row.copy().get(0, childType)
        case t => row.get(0, t)
      }
    } catch {
      case e: Exception =>
        val failure = e match { case p: ParameterFailure => p; case _ => new ParameterFailure(parameter, e) }
        out(1) = UTF8String.fromString(Faults.of(kind, node, failure, null).json)
    }
    new GenericInternalRow(out)
  }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class Decode(child: Expression, format: String, dataType: DataType)
    extends UnaryExpression
    with CodegenFallback {
  @transient private lazy val codec = Columns.codec(format)
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = codec.decode(child.eval(input).asInstanceOf[Array[Byte]])
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class Encode(child: Expression, format: String) extends UnaryExpression with CodegenFallback {
  @transient private lazy val codec = {
    val c = Columns.codec(format, Some(Expressions.nullable(child.dataType)))
    if (c.format == "json") Codec.make("json", child.dataType)
    else if (!Expressions.widens(Expressions.nullable(child.dataType), c.dataType))
      throw new Expressions.Invalid(
        s"format ${c.format} is for ${c.dataType.sql}, but the data is ${child.dataType.sql}",
        "TYPE"
      )
    else c
  }
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = codec.encode(child.eval(input))
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

/** The salt of a task's number modulo n. */
private[millrace] case class SaltOf(child: Expression, n: Int) extends UnaryExpression {
  @transient private lazy val salts = Internals.salts(n)
  override def dataType: DataType = IntegerType
  override protected def nullSafeEval(index: Any): Any = salts(Math.floorMod(index.asInstanceOf[Int], n))
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val all = ctx.addReferenceObj("salts", salts, "int[]")
    nullSafeCodeGen(ctx, ev, index => s"${ev.value} = $all[java.lang.Math.floorMod($index, $n)];")
  }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class PartitionOf(child: Expression, n: Int) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = Partitioner.partition(child.eval(input).asInstanceOf[Array[Byte]], n)
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

/**
 * Stateful: a topic-partition is read by one Spark task, in order, so the maximum is that of the topic-partition [PL1].
 */
private[millrace] case class RunningMax(first: Expression, second: Expression, third: Expression)
    extends TernaryExpression
    with Nondeterministic {
  @transient private var highest: java.util.HashMap[(UTF8String, Int), Array[Long]] = _

  /** The last row's topic-partition and its maximum: consecutive rows mostly have the same topic-partition. */
  @transient private var topic: UTF8String = _
  @transient private var partition = -1
  @transient private var last: Array[Long] = _
  override def stateful: Boolean = true
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override protected def initializeInternal(partitionIndex: Int): Unit = {
    highest = new java.util.HashMap()
    last = null
  }
  override protected def evalInternal(input: InternalRow): Any = {
    val t = first.eval(input)
    next(
      t == null,
      if (t == null) 0L else t.asInstanceOf[Long],
      second.eval(input).asInstanceOf[UTF8String],
      third.eval(input).asInstanceOf[Int]
    )
  }
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    import org.apache.spark.sql.catalyst.expressions.codegen.Block._
    import org.apache.spark.sql.catalyst.expressions.codegen.FalseLiteral
    val self = ctx.addReferenceObj("runningMax", this, classOf[RunningMax].getName)
    ctx.addPartitionInitializationStatement(s"$self.initialize(partitionIndex);")
    val (t, topic, p) = (first.genCode(ctx), second.genCode(ctx), third.genCode(ctx))
    ev.copy(
      code = code"""
      ${t.code}
      ${topic.code}
      ${p.code}
      long ${ev.value} = $self.next(${t.isNull}, ${t.value}, ${topic.value}, ${p.value});""",
      isNull = FalseLiteral
    )
  }

  /** Called by generated code. */
  def next(isNull: Boolean, t: Long, of: UTF8String, p: Int): Long = {
    if (last == null || p != partition || !of.equals(topic)) {
      topic = of.clone()
      partition = p
      last = highest.computeIfAbsent((topic, p), _ => Array(Long.MinValue))
    }
    if (!isNull && t > last(0)) last(0) = t
    last(0)
  }
  override protected def withNewChildrenInternal(a: Expression, b: Expression, c: Expression): Expression =
    copy(first = a, second = b, third = c)
}

/**
 * Like Spark's monotonically_increasing_id, which is refused on streams because it differs between micro-batches. Here
 * it only orders the rows of one micro-batch.
 */
private[millrace] case class RowNumber() extends LeafExpression with Nondeterministic with CodegenFallback {
  @transient private var next = 0L
  override def stateful: Boolean = true
  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override protected def initializeInternal(partitionIndex: Int): Unit = next = partitionIndex.toLong << 33
  override protected def evalInternal(input: InternalRow): Any = { val n = next; next += 1; n }
}
