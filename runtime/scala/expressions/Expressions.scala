package org.apache.spark.sql.millrace

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The columns that an expression sees, in order. All of them are nullable. `draws`: it is evaluated once per record, so
 * that it can have random values and the present time ([[Draws]]). `callable`: functions in Python that it can call.
 */
final case class Layout(
    columns: IndexedSeq[(String, DataType)],
    draws: Boolean = false,
    private[millrace] val callable: CalledFunctions = CalledFunctions.none
) {
  private[millrace] def seesOffset(e: Expr): Boolean =
    columns.lastOption.exists(_._1 == "offset") && e.sees(columns.length - 1)

  /** All columns of the row, with those that no text can name. */
  private[millrace] def all: IndexedSeq[(String, DataType)] = if (draws) columns ++ Draws.columns else columns
}

object Layout {
  private val metadata = IndexedSeq(
    "timestamp" -> TimestampType,
    "headers" -> MapType(StringType, BinaryType),
    "topic" -> StringType,
    "partition" -> IntegerType,
    "offset" -> LongType
  )

  /** Columns of steps over a record: key, value, timestamp, headers, topic, partition, offset. */
  def record(key: KeyType, value: DataType): Layout = Layout(
    IndexedSeq("key" -> key.seen, "value" -> value) ++ metadata
  )

  /** The same for steps that evaluate an expression once per record. */
  def drawing(key: KeyType, value: DataType): Layout = record(key, value).copy(draws = true)

  /** Columns of aggregators: agg, key, value, timestamp. */
  def aggregator(agg: DataType, key: KeyType, value: DataType): Layout =
    Layout(IndexedSeq("agg" -> agg, "key" -> key.seen, "value" -> value, "timestamp" -> TimestampType))

  /** Columns of reducers: agg, value. */
  def reducer(value: DataType): Layout = Layout(IndexedSeq("agg" -> value, "value" -> value))

  /** Columns of joiners: key, left, right, timestamp. */
  def joiner(key: KeyType, left: DataType, right: DataType): Layout =
    Layout(IndexedSeq("key" -> key.seen, "left" -> left, "right" -> right, "timestamp" -> TimestampType))

  /** Columns of joiners with a global table: those of others, and the key of the table's row [GK1]. */
  def joiner(key: KeyType, left: DataType, right: DataType, mapped: KeyType): Layout =
    Layout(joiner(key, left, right).columns :+ ("mapped_key" -> mapped.seen))

  /** Columns of session mergers: key, and left and right of the two sessions. */
  def merger(key: KeyType, agg: DataType): Layout = Layout(IndexedSeq("key" -> key.seen, "left" -> agg, "right" -> agg))

  /** Columns of foreign key extractors: key, value. */
  def pair(key: KeyType, value: DataType): Layout = Layout(IndexedSeq("key" -> key.seen, "value" -> value))

  /** No columns, for initializers. */
  val nothing: Layout = Layout(IndexedSeq.empty)
}

/**
 * A Spark SQL expression over one record, bound to the columns of its layout. Code is generated on first use, in the
 * task. One instance belongs to one node of one task (it reuses its input row). Results belong to the caller. `salt`:
 * the part of its random values that distinguishes the expression. Exceptions are thrown as [[ParameterFailure]] with
 * the parameter that holds the text.
 */
final class Expr(
    bound: Expression,
    val dataType: DataType,
    used: Array[Int],
    width: Int,
    val parameter: String,
    val text: String,
    salt: Long
) extends Serializable {
  @transient private lazy val projection = UnsafeProjection.create(Seq(bound))
  @transient private lazy val input = new GenericInternalRow(width)
  @transient private lazy val uses: Array[Boolean] = { val r = new Array[Boolean](width); used.foreach(r(_) = true); r }

  /** Evaluates over [[Layout.record]]. */
  def apply(r: Record, c: TaskContext): Any = { fill(r.key, r.value, r, c); run() }

  /** Evaluates over [[Layout.record]] with another value, for tables, where a record's value is a Change. */
  def apply(r: Record, value: Any, c: TaskContext): Any = { fill(r.key, value, r, c); run() }

  /** Evaluates a condition over [[Layout.record]]; null counts as false. */
  def test(r: Record, value: Any, c: TaskContext): Boolean = {
    fill(r.key, value, r, c)
    java.lang.Boolean.TRUE == run()
  }

  def apply(): Any = run()
  def apply(a: Any): Any = { input.values(0) = a; run() }
  def apply(a: Any, b: Any): Any = { val v = input.values; v(0) = a; v(1) = b; run() }
  def apply(a: Any, b: Any, c: Any): Any = { val v = input.values; v(0) = a; v(1) = b; v(2) = c; run() }

  /** Evaluates over three columns and a timestamp in ms: aggregators (agg, key, value), joiners (key, left, right). */
  def apply(a: Any, b: Any, c: Any, timestamp: Long): Any = {
    val v = input.values
    v(0) = a
    v(1) = b
    v(2) = c
    if (uses(3)) v(3) = timestamp * 1000L
    run()
  }

  /** Evaluates over the columns of a joiner with a global table; `mapped`: the key of the table's row. */
  def apply(key: Any, left: Any, right: Any, timestamp: Long, mapped: Any): Any = {
    input.values(4) = mapped
    apply(key, left, right, timestamp)
  }

  /** Whether the text names this column. */
  def sees(column: Int): Boolean = uses(column)

  /** The task and the row for which it was evaluated last, and how often. */
  @transient private var task: TaskContext = _
  @transient private var turn = 0L
  @transient private var number = 0L

  private def seed(c: TaskContext): Long = {
    if (turn != c.turn || (task ne c)) { task = c; turn = c.turn; number = 0L }
    number += 1
    Draws.seed(c.origin, salt, number)
  }

  private def fill(key: Any, value: Any, r: Record, c: TaskContext): Unit = {
    val v = input.values
    v(0) = key
    v(1) = value
    if (uses(2)) v(2) = r.timestamp * 1000L
    if (uses(3)) v(3) = Headers.asMap(r.headers)
    if (uses(4)) v(4) = c.topic
    if (uses(5)) v(5) = c.partition
    if (uses(6)) v(6) = c.offset
    if (width > 7) {
      if (uses(7)) v(7) = seed(c)
      if (uses(8)) v(8) = c.processingTime * 1000L
    }
  }

  private def run(): Any =
    try {
      val out = projection(input)
      if (out.isNullAt(0)) null
      else
        dataType match {
          case StringType => out.getUTF8String(0).clone()
          case _: StructType | _: ArrayType | _: MapType => out.copy().get(0, dataType)
          case t => out.get(0, t)
        }
    } catch {
      case p: ParameterFailure => throw p
      case e: Exception => throw new ParameterFailure(parameter, e)
    }
}

/** The leaf below an expression's projection while it is analyzed. */
private[millrace] case class RecordColumns(output: Seq[Attribute]) extends LeafNode

/** Compiles Spark SQL texts to bound expressions: analyzed (ANSI, UTC), typed, optimized. Only on the driver. */
object Expressions {
  private final case class Compiled(bound: Expression, dataType: DataType, used: Array[Int])
  private val cache = java.util.Collections.synchronizedMap(
    new java.util.LinkedHashMap[(String, Layout, Option[DataType]), Compiled](256, 0.75f, true) {
      override def removeEldestEntry(e: java.util.Map.Entry[(String, Layout, Option[DataType]), Compiled]): Boolean =
        size > 5000
    }
  )

  /**
   * The refusal of a text. `condition` is Spark's error condition or one of this project, `facts` are the values in its
   * message. Offsets count Unicode code points of the text, [start, stop), or are -1. `failure`: the failure behind it,
   * or null.
   */
  final class Invalid(
      val reason: String,
      val condition: String,
      val start: Int = -1,
      val stop: Int = -1,
      val facts: Map[String, String] = Map.empty,
      val failure: Why = null
  ) extends RuntimeException(reason)

  /** Makes a type nullable in all of its parts: a value from a store or from Kafka may lack any of them. */
  def nullable(t: DataType): DataType = t match {
    case StructType(fs) => StructType(fs.map(f => StructField(f.name, nullable(f.dataType), nullable = true)))
    case ArrayType(e, _) => ArrayType(nullable(e), containsNull = true)
    case MapType(k, v, _) => MapType(nullable(k), nullable(v), valueContainsNull = true)
    case other => other
  }

  /** Parses a type of the document: DDL of one type or of fields. */
  def parseType(text: String): DataType =
    try { Bounds.checkTypes(text); nullable(DataType.fromDDL(text)) }
    catch {
      case e: Invalid => throw new Invalid(s"a type ${e.reason}", e.condition)
      case NonFatal(e) => throw new Invalid(s"`$text` is not a Spark type: ${tidy(e)}", "INVALID_TYPE")
    }

  /**
   * Compiles a text for a node's parameter. `expected`: the required type, which a widening cast may produce; `name`:
   * that of the expression, of which its random values depend.
   */
  def compile(
      spark: SparkSession,
      text: String,
      layout: Layout,
      parameter: String,
      expected: Option[DataType] = None,
      name: String = ""
  ): Expr = {
    val c = compiled(spark, text, layout, expected)
    new Expr(c.bound, c.dataType, c.used, layout.all.size, parameter, text, Draws.hash(name))
  }

  private def compiled(spark: SparkSession, text: String, layout: Layout, expected: Option[DataType]): Compiled = {
    val key = (text, layout, expected)
    val found = cache.get(key)
    if (found != null) found
    else { val c = optimized(spark, text, layout, expected); cache.put(key, c); c }
  }

  /** What the analyzer tells about a text: its type, the columns that it uses, and warnings. */
  private[millrace] final case class Judgement(dataType: DataType, used: Seq[Int], warnings: Seq[Invalid])

  /** Judges a text by Spark's parser and analyzer alone, without evaluation. Throws [[Invalid]]. */
  private[millrace] def judge(
      spark: SparkSession,
      text: String,
      layout: Layout,
      expected: Option[DataType]
  ): Judgement =
    under(spark, text) { _ =>
      val (plan, _) = analyzed(spark, text, layout, expected, Bounds.opaque)
      val e = inline(plan).head
      Judgement(nullable(e.dataType), usedBy(e, layout), Warnings.of(e))
    }

  private def optimized(spark: SparkSession, text: String, layout: Layout, expected: Option[DataType]): Compiled =
    under(spark, text) { conf =>
      val (found, attributes) = analyzed(spark, text, layout, expected, identity)
      val plan = PresentTime.atRunTime(found)
      val used = usedBy(inline(plan).head, layout)
      val optimizer = classicOf(spark).sessionState.optimizer
      val optimized =
        try inline(optimizer.execute(plan)).head
        catch {
          case e @ (_: AnalysisException | _: Invalid) => throw e
          case NonFatal(_) => // a constant that cannot be folded (1 / 0) must fail at run time, like other expressions
            val unfolded = conf.clone()
            unfolded.setConfString(
              SQLConf.OPTIMIZER_EXCLUDED_RULES.key,
              "org.apache.spark.sql.catalyst.optimizer.ConstantFolding"
            )
            SQLConf.withExistingConf(unfolded)(inline(optimizer.execute(plan)).head)
        }
      val bound = BindReferences.bindReference(optimized, attributes: AttributeSeq)
      Compiled(bound, nullable(bound.dataType), used.toArray)
    }

  private def classicOf(spark: SparkSession) = spark.asInstanceOf[org.apache.spark.sql.classic.SparkSession]
  private def usedBy(e: Expression, layout: Layout): Seq[Int] = {
    val names = e.references.map(_.name).toSet
    layout.all.indices.filter(i => names(layout.all(i)._1))
  }

  /**
   * The analyzed projection of a text over the columns. `prepared` changes the parsed expression before it is analyzed.
   */
  private def analyzed(
      spark: SparkSession,
      text: String,
      layout: Layout,
      expected: Option[DataType],
      prepared: Expression => Expression
  ): (LogicalPlan, Seq[Attribute]) = {
    Bounds.checkText(text)
    Functions.checkText(text)
    val attributes = layout.columns.map { case (name, t) => AttributeReference(name, t, nullable = true)() }
    val state = classicOf(spark).sessionState
    def analyze(e: Expression): LogicalPlan = state.analyzer.executeAndCheck(
      Project(Seq(Alias(e, "result")()), RecordColumns(attributes)),
      new QueryPlanningTracker
    )
    val read = layout.callable.resolved(state.sqlParser.parseExpression(text))
    refuseStrayWord(read, text)
    Functions.checkParsed(read, layout.draws)
    Bounds.check(read, layout)
    val parsed = prepared(read)
    val first = analyze(parsed)
    if (first.output.size != 1) throw new Invalid("must return one value", "ONE_VALUE")
    val plainType = nullable(first.output.head.dataType)
    val analyzed = expected match {
      case Some(t) if plainType != t =>
        if (!widens(plainType, t)) throw new Invalid(s"gives ${plainType.sql}, needs ${t.sql}", "TYPE")
        analyze(Cast(parsed, t, Some("UTC"), EvalMode.ANSI))
      case _ => first
    }
    val (plan, all) = if (layout.draws) drawing(analyzed, attributes) else (analyzed, attributes)
    plan.foreach(_.expressions.foreach(Functions.checkAnalyzed))
    (plan, all)
  }

  /** The plan with random values and the present time as columns, which no name in the text was resolved to. */
  private def drawing(plan: LogicalPlan, attributes: Seq[Attribute]): (LogicalPlan, Seq[Attribute]) = {
    val added = Draws.columns.map { case (name, t) => AttributeReference(name, t, nullable = false)() }
    val all = attributes ++ added
    (Draws.replaced(plan, added).transform { case _: RecordColumns => RecordColumns(all) }, all)
  }

  /** Runs a body with the settings of expressions (ANSI, UTC). Spark's exceptions become [[Invalid]]. */
  private def under[T](spark: SparkSession, text: String)(body: SQLConf => T): T = {
    val conf = classicOf(spark).sessionState.conf.clone()
    conf.setConf(SQLConf.ANSI_ENABLED, true)
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, "UTC")
    conf.setConf(SQLConf.VARIABLE_SUBSTITUTE_ENABLED, false) // ${env:...} would read the environment of the machine
    SQLConf.withExistingConf(conf) {
      try body(conf)
      catch {
        case e: ParseException =>
          val length = text.codePointCount(0, text.length)
          val at = offsetOf(text, e.line.getOrElse(1), e.startPosition.getOrElse(0))
          throw new Invalid(
            tidy(e),
            Option(e.getCondition).getOrElse("PARSE_SYNTAX_ERROR"),
            math.min(at, length),
            length,
            facts(e)
          )
        case e: AnalysisException =>
          val c = e.getQueryContext.headOption
          throw new Invalid(
            tidy(e),
            Option(e.getCondition).getOrElse("ANALYSIS"),
            c.map(_.startIndex).getOrElse(-1),
            c.map(_.stopIndex + 1).getOrElse(-1),
            facts(e)
          )
        case e: Invalid => throw e
        case NonFatal(e) => // such as a number with too many digits
          val (condition, known) = e match {
            case t: org.apache.spark.SparkThrowable => (Option(t.getCondition), facts(t))
            case _ => (None, Map.empty[String, String])
          }
          throw new Invalid(tidy(e), condition.getOrElse("ANALYSIS"), facts = known)
        case _: StackOverflowError => throw new Invalid("is nested too deeply", "TOO_DEEP")
      }
    }
  }

  private def facts(e: org.apache.spark.SparkThrowable): Map[String, String] =
    Option(e.getMessageParameters).fold(Map.empty[String, String])(_.asScala.toMap.filter(_._2 != null))

  /**
   * Refuses a last word that the parser takes as the name of the result, as in a list of columns: `value > 1 OR` would
   * be `value > 1`.
   */
  private def refuseStrayWord(e: Expression, text: String): Unit = e match {
    case Alias(_, name) =>
      val plain = text.stripTrailing
      val start = plain.length - name.length
      if (plain.endsWith(name) && !plain.substring(0, start).matches("(?is).*\\bAS\\s+")) {
        def at(offset: Int) = plain.codePointCount(0, offset)
        val place = if (operators(name.toLowerCase(java.util.Locale.ROOT))) plain.length else start
        throw new Invalid("", "PARSE_SYNTAX_ERROR", at(place), at(plain.length), Map("error" -> s"'$name'"))
      }
    case _ =>
  }
  private val operators =
    Set("and", "or", "not", "is", "in", "like", "ilike", "rlike", "regexp", "between", "div", "escape", "collate")

  /** Combines projections stacked by the analyzer or the optimizer into one list of expressions over the columns. */
  private def inline(p: LogicalPlan): Seq[Expression] = p match {
    case Project(list, child) =>
      val below = child.output.map(_.exprId).zip(inline(child)).toMap
      list.map(_.transform { case a: AttributeReference if below.contains(a.exprId) => below(a.exprId) } match {
        case Alias(e, _) => e
        case e => e
      })
    case c: RecordColumns => c.output
    case other => throw new Invalid(s"is not an expression over one record (${other.nodeName})", "ONE_RECORD")
  }

  /** Whether all values of one type can be converted to the other without loss. */
  def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (NullType, _) => true
    case (a, b) if a == b => true
    case (_, StringType) => false
    case (StructType(a), StructType(b)) =>
      a.length == b.length && a.zip(b).forall { case (x, y) => x.name == y.name && widens(x.dataType, y.dataType) }
    case (ArrayType(a, _), ArrayType(b, _)) => widens(a, b)
    case (a, b) => Cast.canUpCast(a, b)
  }

  /** The offset of a line's column in the whole text. The parser counts columns in code points. */
  private def offsetOf(text: String, line: Int, column: Int): Int = {
    var at = 0
    var l = 1
    while (l < line && at >= 0) { at = text.indexOf('\n', at) + 1; if (at == 0) at = -1; l += 1 }
    text.codePointCount(0, math.max(0, at)) + column
  }
  private def firstLine(e: Throwable): String =
    String.valueOf(e.getMessage).linesIterator.find(_.trim.nonEmpty).getOrElse("")

  /** Spark's message without its class, state and position, which are separate fields. */
  private def tidy(e: Throwable): String = firstLine(e)
    .replaceFirst("^\\[[A-Z_.0-9]+\\] ", "")
    .replaceFirst("; line \\d+ pos \\d+;?$", "")
    .replaceFirst(" ?\\(line \\d+, pos \\d+\\)$", "")
    .replaceFirst(" ?SQLSTATE: [0-9A-Z]{5}.*$", "")
    .replaceFirst(Faults.advice, "")
    .trim

  private[millrace] def text(s: String): UTF8String = if (s == null) null else UTF8String.fromString(s)
}
