package org.apache.spark.sql.millrace

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodegenFallback, ExprCode}
import org.apache.spark.sql.functions.{array, element_at, lit, pmod}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Columns that a DataFrame needs besides Spark's own (py4j). Formats are those of the document, as JSON text.
 *
 *   - `salt(index, n)`: maps a task number to an INT that lands in the shuffle partition of that number, of n
 *   - `partitionFor(key, n)`: Kafka's default partitioner over the key's bytes; 0 for null
 *   - `attempt(c, kind, node, parameter)`: STRUCT<value, fault: STRING>, the value, or the fault as JSON if `c` raises
 *   - `decode(bytes, format)`, `encode(value, format)`: raise if bytes or value do not fit; null stays null
 *   - `pack(value)`: BINARY, in the form in which `into` and `repartitioned` take values
 *   - `append(path, index)`: BINARY, the path and the 4 bytes of the index
 *   - `runningMax(timestamp, topic, partition)`: BIGINT, the highest timestamp so far of the topic-partition within the
 *     micro-batch
 *   - `rowNumber()`: BIGINT, the number of the row within its Spark partition, whose own number is in the upper bits
 *   - `observe(c, run, node, sub, what)`: the column itself; counts the rows that pass as `in` or `out` of the node
 *   - `reading(c, run, reader, topic, partition, offset, timestamp)`: the column itself; reports a task of sub-topology
 *     -1 - `reader` for each partition that rows come from, with its records, offsets and highest timestamp (ms)
 */
object Columns {
  def salt(index: Column, n: Int): Column =
    if (n == 1) lit(Internals.salts(1)(0))
    else
      element_at(
        array(Internals.salts(n).toIndexedSeq.map(lit(_)): _*),
        (pmod(index, lit(n)) + lit(1)).cast(IntegerType)
      )

  def partitionFor(key: Column, n: Int): Column = Internals.column(PartitionOf(Internals.expression(key), n))
  def attempt(c: Column, kind: String, node: String, parameter: String): Column =
    Internals.column(Attempt(Internals.expression(c), kind, node, parameter))
  def decode(bytes: Column, format: String): Column =
    Internals.column(Decode(Internals.expression(bytes), format, codec(format).dataType))
  def encode(value: Column, format: String): Column = {
    codec(format, Some(StringType))
    Internals.column(Encode(Internals.expression(value), format))
  }
  def topic(name: Column, simulation: Boolean): Column =
    Internals.column(TopicOf(Internals.expression(name), simulation))
  def partition(number: Column): Column = Internals.column(PartitionNumber(Internals.expression(number)))
  def pack(value: Column): Column = Internals.column(Pack(Internals.expression(value)))
  def append(path: Column, index: Column): Column =
    Internals.column(AppendPath(Internals.expression(path), Internals.expression(index)))
  def runningMax(timestamp: Column, topic: Column, partition: Column): Column =
    Internals.column(
      RunningMax(Internals.expression(timestamp), Internals.expression(topic), Internals.expression(partition))
    )

  def rowNumber(): Column = Internals.column(RowNumber())
  def observe(c: Column, run: String, node: String, sub: Int, what: String): Column =
    Internals.column(
      Observe(
        Internals.expression(c),
        node,
        sub,
        what == "in",
        new Counting(Reports.of(org.apache.spark.sql.SparkSession.active, run))
      )
    )

  def reading(
      c: Column,
      run: String,
      reader: Int,
      topic: Column,
      partition: Column,
      offset: Column,
      timestamp: Column
  ): Column = Internals.column(
    Reading(
      Seq(c, topic, partition, offset, timestamp).map(Internals.expression(_)),
      reader,
      new Counting(Reports.of(org.apache.spark.sql.SparkSession.active, run))
    )
  )

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

private[millrace] case class TopicOf(child: Expression, simulation: Boolean)
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = StringType
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = Destination.topic(child.eval(input).asInstanceOf[UTF8String], simulation)
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class PartitionNumber(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = Destination.partition(child.eval(input).asInstanceOf[Integer])
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class Pack(child: Expression) extends UnaryExpression with CodegenFallback {
  @transient private lazy val packer = new Packer(child.dataType)
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = packer.pack(child.eval(input))
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class PartitionOf(child: Expression, n: Int) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = Partitioner.partition(child.eval(input).asInstanceOf[Array[Byte]], n)
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

private[millrace] case class AppendPath(left: Expression, right: Expression)
    extends BinaryExpression
    with CodegenFallback {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def eval(input: InternalRow): Any = {
    val path = left.eval(input).asInstanceOf[Array[Byte]]
    val at = if (path == null) 0 else path.length
    val out = if (path == null) new Array[Byte](4) else java.util.Arrays.copyOf(path, at + 4)
    Bytes.putInt(out, at, right.eval(input).asInstanceOf[Number].intValue)
    out
  }
  override protected def withNewChildrenInternal(l: Expression, r: Expression): Expression = copy(left = l, right = r)
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

/** The accumulator for the counts of an expression, which each Spark task reports when it ends. */
private[millrace] final class Counting(val statistics: RunAccumulator) extends Serializable

private[millrace] case class Observe(child: Expression, node: String, sub: Int, in: Boolean, counting: Counting)
    extends UnaryExpression
    with Nondeterministic
    with CodegenFallback {
  @transient private var rows: Array[Long] = _
  override def stateful: Boolean = true
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override protected def initializeInternal(partitionIndex: Int): Unit = {
    val mine = new Array[Long](1)
    rows = mine
    val task = org.apache.spark.TaskContext.get()
    if (task != null) task.addTaskCompletionListener[Unit] { t =>
      if (!t.isFailed()) {
        val r = new TaskReport(0, partitionIndex)
        r.node(node, if (in) mine(0) else 0L, if (in) 0L else mine(0))
        counting.statistics.add(r)
      }
    }
  }
  override protected def evalInternal(input: InternalRow): Any = { rows(0) += 1; child.eval(input) }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

/**
 * Counts the records of each topic-partition that rows come from, and reports them when the Spark task ends: one entry
 * for each partition number, regardless of the topic.
 */
private[millrace] case class Reading(children: Seq[Expression], reader: Int, counting: Counting)
    extends Expression
    with Nondeterministic
    with CodegenFallback {
  @transient private var places: java.util.HashMap[(UTF8String, Int), Reading.Place] = _
  @transient private var topic: UTF8String = _
  @transient private var partition: Int = -1
  @transient private var place: Reading.Place = _
  override def stateful: Boolean = true
  override def dataType: DataType = children.head.dataType
  override def nullable: Boolean = children.head.nullable
  override protected def initializeInternal(partitionIndex: Int): Unit = {
    val mine = new java.util.HashMap[(UTF8String, Int), Reading.Place]()
    places = mine
    place = null
    val task = org.apache.spark.TaskContext.get()
    if (task != null) task.addTaskCompletionListener[Unit] { t => if (!t.isFailed()) report(mine) }
  }
  private def report(found: java.util.HashMap[(UTF8String, Int), Reading.Place]): Unit = {
    import scala.jdk.CollectionConverters._
    found.asScala.groupBy(_._1._2).foreach { case (index, mine) =>
      val r = new TaskReport(0, index)
      r.task(
        -1 - reader,
        mine.values.map(_.records).sum,
        ThreadNames.current,
        mine.values.map(_.time).max,
        mine.map { case ((t, p), at) => (t.toString, p) -> ReadUpTo(at.offset, at.records) }.toMap,
        -1L
      )
      counting.statistics.add(r)
    }
  }
  override protected def evalInternal(input: InternalRow): Any = {
    val t = children(1).eval(input).asInstanceOf[UTF8String]
    val p = children(2).eval(input).asInstanceOf[Int]
    if (place == null || p != partition || t != topic) {
      topic = t.clone()
      partition = p
      place = places.computeIfAbsent((topic, p), _ => new Reading.Place)
    }
    place.records += 1
    place.offset = Math.max(place.offset, children(3).eval(input).asInstanceOf[Long])
    val at = children(4).eval(input)
    if (at != null) place.time = Math.max(place.time, at.asInstanceOf[Long])
    children.head.eval(input)
  }
  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Expression = copy(children = c)
}

private object Reading {
  final class Place { var records: Long = 0L; var offset: Long = -1L; var time: Long = -1L }
}
