package org.apache.spark.sql.millrace

import java.util.Locale

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.analysis.{
  FunctionRegistry,
  NamedParameter,
  PosParameter,
  Star,
  TableFunctionRegistry,
  UnresolvedFunction
}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.expressions.variant.VariantGet
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.types._

/**
 * Judges what an expression may do, by the lists of [[FunctionList]]. The parsed text is judged first, because for some
 * functions Spark's analysis already reads files and loads classes; then the analyzed expression is, because only its
 * classes show what is evaluated. All texts of users that become Spark SQL pass here, through [[Expressions]]: the
 * expressions of documents, of readers, of tests and of topic filters, in all sessions and both dialects.
 */
object Functions {

  /** Whether an expression may call the function, with arguments that it accepts. */
  def allows(name: String): Boolean = FunctionList.functions(name)

  /** The functions of Spark's registries that are neither allowed nor refused (py4j). */
  def undecided: java.util.List[String] =
    (FunctionRegistry.functionSet ++ TableFunctionRegistry.functionSet)
      .map(_.funcName)
      .filter(name => !allows(name) && !FunctionList.refused.contains(name) && group(name).isEmpty)
      .toSeq
      .sorted
      .asJava

  private val byGroup: Map[String, Expression => Expressions.Invalid] =
    Map("agg_funcs" -> aggregates, "window_funcs" -> aggregates, "generator_funcs" -> generator)

  private def info(name: String): Option[ExpressionInfo] = FunctionRegistry.expressions.get(name).map(_._1)
  private def group(name: String): Option[Expression => Expressions.Invalid] =
    info(name).flatMap(found => byGroup.get(found.getGroup))

  // ---- the text ---------------------------------------------------------------------------------

  /** Refuses the clause IDENTIFIER(…), whose name Spark takes from a text, in places during the parsing. */
  private[millrace] def checkText(text: String): Unit = {
    // As for Spark's parser, keywords are in upper case.
    val upper = text.codePoints.map(Character.toUpperCase(_)).toArray
    val lexer = new SqlBaseLexer(CharStreams.fromString(new String(upper, 0, upper.length)))
    lexer.removeErrorListeners()
    val tokens = Iterator
      .continually(lexer.nextToken())
      .takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL)
    tokens.sliding(2).foreach {
      case Seq(word, next) if word.getType == SqlBaseLexer.IDENTIFIER_KW && next.getType == SqlBaseLexer.LEFT_PAREN =>
        throw new Expressions.Invalid(
          "has an IDENTIFIER clause",
          "IDENTIFIER_CLAUSE",
          word.getStartIndex,
          next.getStopIndex + 1
        )
      case _ =>
    }
  }

  // ---- the parsed expression --------------------------------------------------------------------

  /** Refuses a parsed expression that may do more than compute a value of one record from its columns. */
  private[millrace] def checkParsed(e: Expression, draws: Boolean): Unit = e.foreach {
    case s: Star => throw invalid(s, "must return one value", "ONE_VALUE")
    case s @ (_: SubqueryExpression | _: InSubquery) => throw subquery(s)
    case p @ (_: NamedParameter | _: PosParameter) => throw invalid(p, "has a parameter", "UNBOUND_SQL_PARAMETER")
    case w @ (_: WindowExpression | _: UnresolvedWindowExpression | _: AggregateExpression) => throw aggregates(w)
    case l: Literal if PresentTime.isLiteral(l) => throw presentTime(l)
    case f: UnresolvedFunction => checkCall(f, draws)
    case _: PythonCall =>
    case other if !FunctionList.parsed(name(other)) && !FunctionList.classes(name(other)) => throw undecided(other)
    case _ =>
  }

  private def checkCall(f: UnresolvedFunction, draws: Boolean): Unit = {
    val name = f.nameParts.last.toLowerCase(Locale.ROOT)
    if (f.nameParts.size > 1) throw notAllowed(f, name, "is called by a qualified name")
    FunctionList.once.get(name).filterNot(_ => draws).foreach(refusal => throw refused(f, name, refusal))
    FunctionList.refused.get(name).foreach(refusal => throw refused(f, name, refusal))
    group(name).foreach(why => throw why(f))
    if (allows(name)) checkArguments(f, name)
    else if (info(name).nonEmpty) throw undecided(f, name)
    // Spark's analysis refuses a name that it does not know, with the place of the call.
  }

  private def checkArguments(f: UnresolvedFunction, name: String): Unit = {
    FunctionList.typesAt.get(name).flatMap(f.arguments.lift).foreach(checkType(f, name, _))
    FunctionList.optionsAt.get(name).flatMap(f.arguments.lift).foreach(checkOptions(f, name, _))
    if (FunctionList.typesAt.contains(name) || FunctionList.optionsAt.contains(name))
      f.arguments.collectFirst { case n: NamedArgumentExpression => throw notAllowed(n, name, "has named arguments") }
    if (name == "aes_encrypt" && hasRandomVector(f)) throw notDeterministic(f)
    if (FunctionList.seeded.get(name).exists(seeds => !hasConstantSeed(f, seeds))) throw notDeterministic(f)
  }

  /** Whether a function of random values has no argument or, if it `seeds`, one whole number. */
  private def hasConstantSeed(f: UnresolvedFunction, seeds: Boolean): Boolean = f.arguments match {
    case Seq() => true
    case Seq(Literal(v, IntegerType | LongType)) => seeds && v != null
    case _ => false
  }

  /** Whether `aes_encrypt` is called without an initialization vector in a mode that has one: Spark chooses it. */
  private def hasRandomVector(f: UnresolvedFunction): Boolean = {
    val vector = f.arguments.lift(4).forall { case Literal(v, _) => v != null && v.toString.isEmpty; case _ => false }
    vector && !f.arguments.lift(2).exists {
      case Literal(v, _: StringType) => v != null && v.toString.equalsIgnoreCase("ecb")
      case _ => false
    }
  }

  /**
   * Refuses a type unless its text is DDL. Spark also takes JSON, in which a type can name Java classes, and a field
   * can have a default: another expression.
   */
  private def checkType(f: UnresolvedFunction, name: String, argument: Expression): Unit = argument match {
    case Literal(text, _: StringType) =>
      if (text == null || text.toString.trim.startsWith("{") || text.toString.trim.startsWith("\""))
        throw typeForm(argument, name)
    case inferred: UnresolvedFunction if inferred.nameParts.last.toLowerCase(Locale.ROOT).startsWith("schema_of_") =>
    case _ => throw typeForm(argument, name)
  }

  private def typeForm(at: Expression, name: String): Expressions.Invalid =
    invalid(at, s"has a type for $name that is not a text such as 'a INT, b STRING'", "TYPE_FORM", "function" -> name)

  private def checkOptions(f: UnresolvedFunction, name: String, argument: Expression): Unit = argument match {
    case UnresolvedFunction(Seq(map), pairs, _, _, _, _, _) if map.equalsIgnoreCase("map") =>
      pairs.grouped(2).foreach {
        case Seq(option @ Literal(text, _: StringType), Literal(_, _)) if text != null =>
          checkOption(option, name, text.toString)
        case _ => throw optionsForm(argument, name)
      }
    case _ => throw optionsForm(argument, name)
  }

  private def checkOption(at: Expression, function: String, option: String): Unit = {
    val known = FunctionList.options(function.substring(function.lastIndexOf('_') + 1))
    if (!known.exists(_.equalsIgnoreCase(option)))
      throw invalid(
        at,
        s"sets the option $option of $function",
        "OPTION",
        "function" -> function,
        "option" -> option,
        "known" -> known.toSeq.sorted.mkString(", ")
      )
  }

  private def optionsForm(at: Expression, name: String): Expressions.Invalid =
    invalid(
      at,
      s"has options of $name that are not written as map('name', 'value')",
      "OPTIONS_FORM",
      "function" -> name
    )

  // ---- the analyzed expression ------------------------------------------------------------------

  /** Refuses an analyzed expression of which any part, or what Spark replaces it by, is in no list. */
  private[millrace] def checkAnalyzed(e: Expression): Unit = {
    // What replaces an expression contains its arguments: each part must be visited only once.
    val seen = java.util.Collections.newSetFromMap(new java.util.IdentityHashMap[Expression, java.lang.Boolean]())
    def visit(part: Expression): Unit = if (seen.add(part)) {
      checkPart(part)
      part.children.foreach(visit)
      part match {
        case r: RuntimeReplaceable => visit(r.replacement)
        case _ => if (!part.deterministic && part.children.forall(_.deterministic)) throw notDeterministic(part)
      }
    }
    visit(e)
  }

  private def checkPart(e: Expression): Unit = e match {
    case _: AggregateExpression | _: WindowExpression => throw aggregates(e)
    case _: Generator => throw generator(e)
    case s: SubqueryExpression => throw subquery(s)
    case _: CurrentTimestampLike | _: CurrentDate | _: LocalTimestamp => throw presentTime(e)
    case t if t.getClass.getSimpleName.startsWith("CurrentTime") && !t.isInstanceOf[CurrentTimeZone] =>
      throw presentTime(t)
    case c: Cast if PresentTime.isCast(c) => throw presentTime(c)
    case _: PythonCall =>
    case s: StaticInvoke => checkMethod(s, s.staticObject.getName, s.functionName)
    case i: Invoke => checkMethod(i, target(i), i.functionName)
    case other if !FunctionList.classes(name(other)) => throw unlisted(other)
    case j: JsonToStructs => checkParser(j, "from_json", j.options, j.schema)
    case c: CsvToStructs => checkParser(c, "from_csv", c.options, c.schema)
    case x: XmlToStructs => checkParser(x, "from_xml", x.options, x.schema)
    case v: VariantGet => checkParser(v, "variant_get", Map.empty, v.targetType)
    case j: StructsToJson => checkParser(j, "to_json", j.options, NullType)
    case c: StructsToCsv => checkParser(c, "to_csv", c.options, NullType)
    case x: StructsToXml => checkParser(x, "to_xml", x.options, NullType)
    case s: SchemaOfJson => checkParser(s, "schema_of_json", s.options, NullType)
    case s: SchemaOfCsv => checkParser(s, "schema_of_csv", s.options, NullType)
    case s: SchemaOfXml => checkParser(s, "schema_of_xml", s.options, NullType)
    case _ =>
  }

  private def name(e: Expression): String = e.getClass.getName

  private def checkMethod(e: Expression, owner: String, method: String): Unit =
    if (!FunctionList.methods(s"$owner.$method")) throw undecided(e, s"$owner.$method")

  /** The class whose method an expression calls; only a text is not written into the expression itself. */
  private def target(i: Invoke): String = i.targetObject match {
    case Literal(v, _: ObjectType) if v != null => v.getClass.getName
    case e if e.dataType.isInstanceOf[StringType] => classOf[org.apache.spark.unsafe.types.UTF8String].getName
    case e => e.dataType.typeName
  }

  private def checkParser(e: Expression, function: String, options: Map[String, String], t: DataType): Unit = {
    val written = options match { case c: CaseInsensitiveMap[String] => c.originalMap; case m => m }
    written.keys.foreach(checkOption(e, function, _))
    if (!isPlain(t)) throw typeForm(e, function)
  }

  /** Whether a type has neither defaults of fields nor types of Java classes. */
  private def isPlain(t: DataType): Boolean = t match {
    case StructType(fields) =>
      fields.forall { f =>
        val comment = new MetadataBuilder
        f.getComment().foreach(comment.putString("comment", _))
        isPlain(f.dataType) && f.metadata == comment.build()
      }
    case ArrayType(item, _) => isPlain(item)
    case MapType(k, v, _) => isPlain(k) && isPlain(v)
    case _: UserDefinedType[_] | _: ObjectType => false
    case _ => true
  }

  /** The reason of a class that Spark's registry lists under a refused name, such as `current_user`. */
  private def unlisted(e: Expression): Expressions.Invalid =
    FunctionList.refused
      .collectFirst {
        case (known, refusal) if info(known).exists(_.getClassName == name(e)) => refused(e, e.prettyName, refusal)
      }
      .getOrElse(undecided(e))

  // ---- refusals ---------------------------------------------------------------------------------

  private def refused(at: Expression, name: String, refusal: FunctionList.Refusal): Expressions.Invalid =
    refusal.condition match {
      case "FUNCTION" => notAllowed(at, name, refusal.why)
      case "CURRENT_TIME" => presentTime(at)
      case "NOT_DETERMINISTIC" => notDeterministic(at)
      case "AGGREGATE" => aggregates(at)
      case "WINDOW" => invalid(at, "applies to many records (use the window of an aggregation node)", "WINDOW")
    }

  private def undecided(at: Expression, name: String): Expressions.Invalid =
    notAllowed(at, name, "is not among the functions that were checked for expressions")
  private def undecided(at: Expression): Expressions.Invalid = undecided(at, at.prettyName)

  private def notAllowed(at: Expression, name: String, why: String): Expressions.Invalid =
    invalid(at, s"calls $name, which $why", "FUNCTION", "found" -> name, "reason" -> why)

  private def subquery(at: Expression): Expressions.Invalid =
    invalid(at, "has a subquery; an expression is evaluated for one record", "SUBQUERY")

  private def aggregates(at: Expression): Expressions.Invalid =
    invalid(
      at,
      "aggregates many records; an expression is evaluated for one record (use an aggregation node)",
      "AGGREGATE"
    )

  private def generator(at: Expression): Expressions.Invalid =
    invalid(at, "returns several rows; an expression returns one value (use flat_map or flat_map_values)", "GENERATOR")

  private def notDeterministic(at: Expression): Expressions.Invalid =
    invalid(
      at,
      "is not deterministic: a record that is processed again must give the same result",
      "NOT_DETERMINISTIC"
    )

  private def presentTime(at: Expression): Expressions.Invalid =
    invalid(
      at,
      "returns the current time: a record that is processed again must give the same result (use `timestamp`)",
      "CURRENT_TIME"
    )

  private def invalid(
      at: Expression,
      reason: String,
      condition: String,
      facts: (String, String)*
  ): Expressions.Invalid = {
    val found = at match { case f: UnresolvedFunction => f.nameParts.last; case e => e.prettyName }
    new Expressions.Invalid(
      reason,
      condition,
      at.origin.startIndex.getOrElse(-1),
      at.origin.stopIndex.fold(-1)(_ + 1),
      Map("found" -> found) ++ facts
    )
  }
}
