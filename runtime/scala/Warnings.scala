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
        if text.dataType.isInstanceOf[StringType] && c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty =>
      new Expressions.Invalid(
        s"uses the text ${text.sql} as ${number.sql}",
        "TEXT_AS_NUMBER",
        operator.origin.startIndex.getOrElse(-1),
        operator.origin.stopIndex.fold(-1)(_ + 1),
        Map("found" -> text.sql.replace("`", ""), "type" -> number.sql)
      )
  }
}
