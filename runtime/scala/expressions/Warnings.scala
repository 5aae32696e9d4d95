package org.apache.spark.sql.millrace

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{NumericType, StringType}

/** Finds what an expression may do without its author knowing. */
private[millrace] object Warnings {

  /** The warnings about an analyzed expression, with their places in its text. */
  def of(e: Expression): Seq[Expressions.Invalid] = e.collect {
    case operator @ (_: BinaryArithmetic | _: BinaryComparison | _: In) => texts(operator)
  }.flatten

  /** Texts that Spark converts to numbers, because the other side is a number. */
  private def texts(operator: Expression): Seq[Expressions.Invalid] = operator.children.collect {
    case c @ Cast(text, number: NumericType, _, _)
        if text.dataType.isInstanceOf[StringType] && c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty &&
          !written(c, operator) =>
      new Expressions.Invalid(
        s"uses the text ${shown(text, operator)} as ${number.sql}",
        "TEXT_AS_NUMBER",
        operator.origin.startIndex.getOrElse(-1),
        operator.origin.stopIndex.fold(-1)(_ + 1),
        Map("found" -> shown(text, operator), "type" -> number.sql)
      )
  }

  /** Whether a conversion stands in the text as a function, such as `double(value)`: at a place of its own. */
  private def written(c: Cast, operator: Expression): Boolean =
    c.origin.startIndex.isDefined &&
      (c.origin.startIndex, c.origin.stopIndex) != (operator.origin.startIndex, operator.origin.stopIndex)

  /** An operand as it is written, or as Spark writes it where its place is not known. */
  private def shown(e: Expression, operator: Expression): String = (for {
    text <- e.origin.sqlText
    from <- e.origin.startIndex
    to <- e.origin.stopIndex
    if !operator.origin.startIndex.contains(from) || !operator.origin.stopIndex.contains(to)
  } yield text.substring(from, to + 1)).getOrElse(e.sql.replace("`", ""))
}
