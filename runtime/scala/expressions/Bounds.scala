package org.apache.spark.sql.millrace

import java.util.Locale

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._

/** Limits the analysis of a text: its types must not become too large, and no part of it is evaluated. */
private[millrace] object Bounds {

  /**
   * Limits: the characters of a text; the levels of brackets, of CASE, of signs and of parts of a name in it; the
   * levels of types; the levels of the parsed expression.
   */
  private val characters = 20000
  private val nesting = 100
  private val types = 40
  private val depth = 1000

  /** The maximum number of parts of all types that an expression can have; a part that occurs twice counts twice. */
  private val parts = 200000L

  private val token = ("""(?s)'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|`[^`]*+`|--[^\n]*+|/\*.*?\*/|""" +
    """\d[\d.]*+(?:[eE][+-]?\d++)?\w*+|\w++|\S""").r
  private val largeNumber = """\d[\d.]*[eE][+-]?\d{4,}\w*""".r
  private val opening = Set("(", "[", "case")
  private val closing = Set(")", "]", "end")
  private val signs = Set("-", "+", "~", "!", "not")

  /** Refuses a text that takes too long to parse. */
  def checkText(text: String): Unit = {
    if (text.length > characters) throw new Expressions.Invalid(s"has more than $characters characters", "TOO_LARGE")
    checkTypes(text)
    if (text.split("/\\*", nesting + 2).length > nesting + 1) throw tooDeep // comments within comments
    var open, run, dots = 0
    var before = ""
    token.findAllIn(text).map(_.toLowerCase(Locale.ROOT)).foreach { t =>
      if (opening(t)) open += 1 else if (closing(t)) open -= 1
      run = if (signs(t)) run + 1 else 0
      dots = if (t == ".") dots + 1 else if (before == ".") dots else 0
      before = t
      if (open > nesting || run > nesting || dots > nesting) throw tooDeep
      if (largeNumber.matches(t))
        throw new Expressions.Invalid("has a number whose exponent has more than three digits", "TOO_LARGE")
    }
  }

  /** Refuses a text whose types are nested too deeply for the parser, including types in strings. */
  def checkTypes(text: String): Unit = {
    var open = 0
    text.foreach { c =>
      if (c == '<') open += 1 else if (c == '>') open = math.max(0, open - 1)
      if (open > types) throw tooDeep
    }
  }
  private def tooDeep = new Expressions.Invalid("is nested too deeply", "TOO_DEEP")

  /** Refuses a parsed expression that takes too long to analyze. */
  def check(e: Expression, layout: Layout): Unit = {
    var level = Seq(e)
    var levels = 0
    while (level.nonEmpty) {
      levels += level.collect { case a: UnresolvedAttribute => a.nameParts.size }.maxOption.getOrElse(1)
      if (levels > depth) throw tooDeep
      level = level.flatMap(_.children)
    }
    if (size(e, layout) > parts)
      throw new Expressions.Invalid(s"can return a type of more than $parts parts", "TOO_LARGE")
  }

  /** Functions of constants that are as cheap as the constants. Others are not evaluated during the analysis. */
  private val cheap =
    ("abs array boolean bigint binary cast coalesce date decimal double float if int interval length lower " +
      "ltrim make_date make_dt_interval make_interval make_ym_interval map map_from_arrays named_struct negative " +
      "nullif nvl rtrim schema_of_csv schema_of_json smallint string struct substring timestamp tinyint trim " +
      "typeof upper")
      .split(' ')
      .toSet

  /** The number of parts of a type. */
  private def size(t: DataType): Long = t match {
    case StructType(fields) => 1 + fields.map(f => size(f.dataType)).sum
    case ArrayType(e, _) => 1 + size(e)
    case MapType(k, v, _) => 1 + size(k) + size(v)
    case _ => 1
  }

  /**
   * An upper bound of the parts of the type that a parsed expression can have. A lambda's variables count as much as
   * all arguments together.
   */
  private def size(e: Expression, layout: Layout): Long = {
    val columns = layout.columns.map { case (name, t) => name.toLowerCase(Locale.ROOT) -> t }.toMap
    def capped(n: Long): Long = math.min(n, parts + 1)
    def of(e: Expression, variables: Map[String, Long]): Long = e match {
      case a: UnresolvedAttribute => named(a.nameParts, variables)
      case v: UnresolvedNamedLambdaVariable => named(v.nameParts, variables)
      case Literal(v, _) => if (v == null) 1 else 1 + v.toString.length / 4
      case f: UnresolvedFunction =>
        val (lambdas, values) = f.arguments.partition(_.isInstanceOf[LambdaFunction])
        val outer = values.foldLeft(1L)((n, x) => capped(n + of(x, variables)))
        lambdas.foldLeft(outer) {
          case (n, LambdaFunction(body, names, _)) =>
            capped(n + of(body, variables ++ names.map(_.name.toLowerCase(Locale.ROOT) -> outer)))
          case (n, _) => n
        }
      case c: Cast => capped(size(c.dataType) + of(c.child, variables))
      case p: PythonCall => p.children.foldLeft(size(p.dataType))((n, x) => capped(n + of(x, variables)))
      case other => other.children.foldLeft(1L)((n, x) => capped(n + of(x, variables)))
    }
    def named(parts: Seq[String], variables: Map[String, Long]): Long = {
      val path = parts.map(_.toLowerCase(Locale.ROOT))
      variables.getOrElse(path.head, columns.get(path.head).fold(1L)(t => size(at(t, path.tail))))
    }
    of(e, Map.empty)
  }
  private def at(t: DataType, path: Seq[String]): DataType = t match {
    case StructType(fields) if path.nonEmpty =>
      fields.find(_.name.equalsIgnoreCase(path.head)).fold(t)(f => at(f.dataType, path.tail))
    case ArrayType(e, _) if path.nonEmpty => at(e, path)
    case _ => t
  }

  /**
   * Hides costly functions of constants from constant folding during the analysis, such as for the schema of
   * `from_json`.
   */
  def opaque(e: Expression): Expression = e.transformUp {
    case f: UnresolvedFunction if !cheap(f.nameParts.last.toLowerCase(Locale.ROOT)) && constant(f) => Opaque(f)
    case r @ (_: StringRegexExpression | _: MultiLikeBase) if constant(r) => Opaque(r)
  }
  private def constant(e: Expression): Boolean = !e.exists(_.isInstanceOf[UnresolvedAttribute])
}

/** An expression that is not constant for the analysis and the optimizer. The analyzer evaluates none. */
private[millrace] case class Opaque(child: Expression) extends UnaryExpression with CodegenFallback {
  override def foldable: Boolean = false
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def sql: String = child.sql
  override def toString: String = child.toString
  override def prettyName: String = child.prettyName
  override def eval(input: InternalRow): Any = child.eval(input)
  override protected def withNewChildInternal(c: Expression): Expression = copy(c)
}
