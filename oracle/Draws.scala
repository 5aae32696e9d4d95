package oracle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * Random values by the definition in docs/columns.md, and the driver's wall clock as the present time. Only for records
 * that come from no internal topic: the place of the others depends on offsets that only Kafka Streams has.
 */
object Draws {
  def hash(text: String): Long = {
    val bytes = text.getBytes("UTF-8")
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, 42L)
  }

  def seed(topic: String, partition: Int, offset: Long, salt: Long, number: Long): Long = {
    val place = XXH64.hashLong(offset, XXH64.hashInt(partition, hash(topic)))
    XXH64.hashLong(number, XXH64.hashLong(salt, place))
  }

  def replaced(plan: LogicalPlan, hidden: Seq[Attribute]): LogicalPlan = {
    val Seq(seed, now) = hidden
    var calls = 0L
    def draw(own: Expression)(value: (Long, Long) => Any, t: DataType): Expression = {
      calls += 1
      Drawn(seed, calls, own match { case Literal(n: Number, _) => n.longValue; case _ => 0L }, value, t)
    }
    plan.transformAllExpressions {
      case Rand(own, hides) => draw(if (hides) null else own)((a, _) => share(a), DoubleType)
      case Randn(own, hides) =>
        draw(if (hides) null else own)(
          (a, b) => StrictMath.sqrt(-2.0 * StrictMath.log(1.0 - share(a))) * StrictMath.cos(2.0 * Math.PI * share(b)),
          DoubleType
        )
      case _: Uuid =>
        draw(null)(
          (a, b) => {
            val digits = f"$a%016x$b%016x".toCharArray
            digits(12) = '4'
            digits(16) = "89ab".charAt(((b >>> 60) & 3).toInt)
            val d = new String(digits)
            UTF8String.fromString(
              Seq(d.substring(0, 8), d.substring(8, 12), d.substring(12, 16), d.substring(16, 20), d.substring(20))
                .mkString("-")
            )
          },
          StringType
        )
      case _: CurrentTimestamp | _: Now => now
      case _: CurrentDate => Cast(now, DateType, Some("UTC"), EvalMode.ANSI)
      case _: LocalTimestamp => Cast(now, TimestampNTZType, Some("UTC"), EvalMode.ANSI)
    }
  }
  private def share(bits: Long): Double = Math.scalb((bits >>> 11).toDouble, -53)
}

/** A value of two numbers of 64 bits, which SplitMix64 makes of a seed. */
case class Drawn(child: Expression, call: Long, own: Long, value: (Long, Long) => Any, dataType: DataType)
    extends UnaryExpression
    with CodegenFallback {
  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override def eval(row: InternalRow): Any = {
    val state = XXH64.hashLong(own, XXH64.hashLong(call, child.eval(row).asInstanceOf[Long]))
    value(Drawn.split(state), Drawn.split(state + 1L))
  }
  override protected def withNewChildInternal(c: Expression): Expression = copy(child = c)
}

object Drawn {
  def split(state: Long): Long = {
    val a = state + 0x9e3779b97f4a7c15L
    val b = (a ^ (a >>> 30)) * 0xbf58476d1ce4e5b9L
    val c = (b ^ (b >>> 27)) * 0x94d049bb133111ebL
    c ^ (c >>> 31)
  }
}
