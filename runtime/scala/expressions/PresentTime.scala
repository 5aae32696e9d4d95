package org.apache.spark.sql.millrace

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._

/**
 * Finds the words that Spark takes for the present time, as in `timestamp'now'` and `CAST('today' AS DATE)`: it puts
 * the time of the analysis in their place, so that a record that is processed again would give another result.
 */
private[millrace] object PresentTime {
  private val words = Set("now", "today", "tomorrow", "yesterday")

  private def isTime(t: DataType): Boolean = t match {
    case DateType | TimestampType | TimestampNTZType => true
    case other => other.typeName.startsWith("timestamp")
  }

  /** Such a word may be followed by a time zone. */
  private def isWord(text: String): Boolean =
    words(text.trim.takeWhile(_.isLetter).toLowerCase(Locale.ROOT))

  /** Whether a literal is written as the type's name and such a word. */
  def isLiteral(l: Literal): Boolean = isTime(l.dataType) && l.value != null && written(l).exists { text =>
    val quote = text.indexWhere(c => c == '\'' || c == '"')
    quote >= 0 && (CatalystSqlParser.parseExpression(text.substring(quote)) match {
      case Literal(v, _: StringType) => isWord(v.toString)
      case _ => false
    })
  }

  private def written(e: Expression): Option[String] =
    for { text <- e.origin.sqlText; start <- e.origin.startIndex; stop <- e.origin.stopIndex } yield {
      // Positions count code points.
      text.substring(text.offsetByCodePoints(0, start), text.offsetByCodePoints(0, stop + 1))
    }

  /** Whether a cast converts such a word. */
  def isCast(c: Cast): Boolean = isTime(c.dataType) && (c.child match {
    case Literal(v, _: StringType) if v != null => isWord(v.toString)
    case _ => false
  })

  /** Casts of other constant texts are evaluated for each record, where such a word is no time. */
  def atRunTime(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case c: Cast if isTime(c.dataType) && isConstantText(c.child) => c.withNewChildren(Seq(Opaque(c.child)))
  }

  private def isConstantText(e: Expression): Boolean =
    e.dataType.isInstanceOf[StringType] && !e.isInstanceOf[Literal] && e.foldable
}
