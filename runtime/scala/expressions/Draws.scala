package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * Random values and the present time in expressions. A record that is processed again must give the same results, so a
 * random value is a function of a seed: of the input record's topic, partition and offset, of the node, and of a number
 * that counts the evaluations for the record. The present time is the record's processing time
 * ([[TaskContext.processingTime]]). Both are columns that no text can name.
 */
private[millrace] object Draws {

  /** The columns behind those of a layout, in this order. */
  val columns: IndexedSeq[(String, DataType)] = IndexedSeq("$seed" -> LongType, "$now" -> TimestampType)

  def hash(bytes: Array[Byte], seed: Long): Long =
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, seed)
  def hash(text: String): Long = hash(text.getBytes("UTF-8"), 42L)

  /** Identifies a row. A row that comes from no topic has `topic` null. */
  def place(topic: UTF8String, partition: Int, offset: Long, path: Array[Byte]): Long = {
    val named = if (topic == null) 42L else hash(topic.getBytes, 42L)
    val at = XXH64.hashLong(offset, XXH64.hashInt(partition, named))
    if (path.length == 0) at else hash(path, at)
  }

  /** The seed of the `number`th evaluation, from 1, of an expression of a node for a row. */
  def seed(origin: Long, salt: Long, number: Long): Long = XXH64.hashLong(number, XXH64.hashLong(salt, origin))

  /** Replaces functions of random values and of the present time by expressions over the columns of `attributes`. */
  def replaced(plan: LogicalPlan, attributes: Seq[Attribute]): LogicalPlan = {
    val Seq(seed, now) = attributes
    var number = 0L
    def draw(kind: String, own: Expression): Expression = { number += 1; Draw(seed, kind, number, literal(own)) }
    def replace(e: Expression): Expression = e match {
      case l: LambdaFunction => l.withNewChildren(l.children.map(inLambda))
      case Rand(own, hidden) => draw("rand", if (hidden) null else own)
      case Randn(own, hidden) => draw("randn", if (hidden) null else own)
      case _: Uuid => draw("uuid", null)
      case _: CurrentTimestamp | _: Now => now
      case _: CurrentDate => Cast(now, DateType, Some("UTC"), EvalMode.ANSI)
      case _: LocalTimestamp => Cast(now, TimestampNTZType, Some("UTC"), EvalMode.ANSI)
      case other => other.mapChildren(replace)
    }
    def inLambda(e: Expression): Expression = e match {
      case _: Rand | _: Randn | _: Uuid =>
        throw new Expressions.Invalid(
          "draws a random value for each element",
          "DRAW_IN_LAMBDA",
          e.origin.startIndex.getOrElse(-1),
          e.origin.stopIndex.fold(-1)(_ + 1),
          Map("found" -> e.prettyName)
        )
      case _: CurrentTimestamp | _: Now | _: CurrentDate | _: LocalTimestamp => replace(e)
      case other => other.mapChildren(inLambda)
    }
    plan.mapExpressions(replace)
  }

  private def literal(own: Expression): Long = own match {
    case Literal(n: Number, _) => n.longValue
    case _ => 0L
  }

  /** 64 bits that depend on all of those of `state` (SplitMix64). */
  private[millrace] def mixed(state: Long): Long = {
    var z = state + 0x9e3779b97f4a7c15L
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }
  private[millrace] def uniform(bits: Long): Double = (bits >>> 11) / (1L << 53).toDouble
}

/**
 * A random value: a function of the seed, of the number of the call in its expression, and of the seed that the call
 * has in the text. `kind`: `rand`, from 0 until 1; `randn`, of the standard normal distribution; `uuid`, of version 4.
 */
private[millrace] case class Draw(child: Expression, kind: String, number: Long, own: Long)
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = if (kind == "uuid") StringType else DoubleType
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = {
    val state = XXH64.hashLong(own, XXH64.hashLong(number, child.eval(input).asInstanceOf[Long]))
    val (a, b) = (Draws.mixed(state), Draws.mixed(state + 1L))
    kind match {
      case "rand" => Draws.uniform(a)
      case "randn" => // Box-Muller; StrictMath gives the same on every machine
        val radius = StrictMath.sqrt(-2.0 * StrictMath.log(1.0 - Draws.uniform(a)))
        radius * StrictMath.cos(2.0 * Math.PI * Draws.uniform(b))
      case _ =>
        val most = (a & 0xffffffffffff0fffL) | 0x0000000000004000L
        val least = (b & 0x3fffffffffffffffL) | 0x8000000000000000L
        UTF8String.fromString(new java.util.UUID(most, least).toString)
    }
  }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}
